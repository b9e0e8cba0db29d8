import ForgeConnection
import ArgumentParser
import Client
import Forges
import StateFiles
import SystemPackage

struct ForgeSignIn: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sign-in", abstract: "Keeps the secret of the OAuth App that people sign in to the pages with.",
        discussion: """
            The secret is read from standard input; on a terminal, typing is hidden. The setting pagesSignIn has the \
            App's client id. Its callback URL is the address of the pages and /sign-in/back.
            """)

    @OptionGroup var state: StateOptions

    func run() throws {
        let bytes = try HiddenInput.read(prompt: "Client secret: ", limit: 64 << 10)
        let secret = try ForgeCredential(text: String(decoding: bytes, as: UTF8.self))
        try ForgeCredentialStore(folder: FilePath(try state.folder().forges)).keep(signInSecret: secret)
        Terminal.say("kept; people can sign in once the setting pagesSignIn has the App's client id")
    }
}
