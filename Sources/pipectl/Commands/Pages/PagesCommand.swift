import ArgumentParser
import Client
import Control
import Foundation
import Sandbox
import StateFiles

struct PagesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pages", abstract: "Opens the pages of the build box in a browser, logged in.",
        discussion: """
            The daemon makes a link that logs one browser in, once, within five minutes, and that acts as you. Without a \
            display the link is printed: from another machine, make a tunnel to the same port first, as in \
            `ssh -L 8787:localhost:8787 BUILD-BOX`.
            """)

    @OptionGroup var state: StateOptions
    @Flag(name: .customLong("print"), help: "Print the link and open nothing.") var printsLink = false

    func run() async throws {
        let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: try state.folder().socket)
        let reply = try await client.ask(.pagesLink)
        if let refusal = reply?.refusal { throw refusal }
        guard case .pagesLink(let link)? = reply else {
            throw CommandEnd(code: 3, message: "the daemon made no link; is it another version of pipectl?")
        }
        guard !printsLink, let program = Self.opener, await Self.open(link, with: program) else {
            return Terminal.print(link)
        }
        Terminal.say("the browser shows a button that logs it in")
    }

    /// The program that opens links; nil where there is no display.
    private static var opener: String? {
        #if os(macOS)
            return "open"
        #else
            let environment = ProcessInfo.processInfo.environment
            let hasDisplay = ["DISPLAY", "WAYLAND_DISPLAY"].contains { environment[$0]?.isEmpty == false }
            return hasDisplay ? "xdg-open" : nil
        #endif
    }

    private static func open(_ link: String, with program: String) async -> Bool {
        let result = try? await ExternalCommand(program, [link], deadline: .seconds(10)).run()
        return result?.succeeded ?? false
    }
}
