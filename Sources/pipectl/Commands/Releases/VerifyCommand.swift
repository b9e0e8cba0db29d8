import ArgumentParser
import Client
import Foundation
import Signing
import TerminalText

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Checks that files of a release are genuine, without a network.",
        discussion: """
            Reads what is beside each file: FILE.minisig, FILE.sig, FILE.sigstore.json, FILE.intoto.jsonl or \
            provenance.intoto.jsonl, SHA256SUMS, release.json, NOTES.md. Everything that is there must be right, and a \
            key that you trust must have signed the file in one of these forms. For a folder it also checks that no file \
            of the release is missing and that there are no others.

            A genuine old release passes, unless you say which one you want: --release-version, --commit or --at-least.

            Exit codes: 0 everything is accepted; 1 something is refused; 2 wrong usage, or a file or key can't be read.
            """)

    @Argument(help: "Files of a release, or folders with a whole one.") var files: [String]
    @OptionGroup var options: VerifyOptions

    func run() throws { try options.check(files) }
}

/// What is trusted and expected, and the check itself.
struct VerifyOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "A public key that you trust, or its file: minisign's form or PEM. Repeatable.", valueName: "key"))
    var keys: [String] = []
    @Option(help: "The commit that it must be built from, or at least seven of its first digits.") var commit: String?
    @Option(help: "The version that it must have.") var releaseVersion: String?
    @Option(help: "The oldest version that you accept.") var atLeast: String?
    @Option(help: "The repository that it must come from, as a URL or as host and path.") var from: String?
    @Option(
        help: ArgumentHelp(
            "A file with revoked keys: a key id or a public key on each line.", valueName: "file"))
    var revoked: String?
    @Flag(help: "Print JSON.") var json = false

    /// Checks files or folders, and prints what came of it.
    func check(_ files: [String]) throws {
        let verifier = ReleaseVerifier(try trusted(), expecting: try expectations())
        var verdicts: [FileVerdict] = []
        for file in files {
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: file, isDirectory: &isFolder) else {
                throw CommandEnd(code: 2, message: "there is no file \(TerminalText.name(file))")
            }
            verdicts += isFolder.boolValue ? verifier.verify(folder: file) : [verifier.verify(file: file)]
        }
        try report(verdicts)
    }

    /// Compares the files of a draft with its record.
    func check(draft list: ReleaseManifest, in folder: String) throws {
        let keys = keys.isEmpty && revoked == nil ? TrustedKeys([]) : try trusted()
        try report(ReleaseVerifier(keys, expecting: try expectations()).verify(draft: list, in: folder))
    }

    private func report(_ verdicts: [FileVerdict]) throws {
        if json {
            try JSONOutput.print(verdicts)
        } else {
            for verdict in verdicts { Terminal.print(VerdictText.lines(of: verdict)) }
        }
        let refused = verdicts.count { !$0.accepted }
        guard refused > 0 else { return Terminal.say(VerdictText.summary(verdicts)) }
        throw CommandEnd(
            code: 1, message: "\(refused) of \(verdicts.count) refused: do not use what you can't explain")
    }

    private func trusted() throws -> TrustedKeys {
        guard !keys.isEmpty else {
            throw CommandEnd(
                code: 2,
                message:
                    "which keys do you trust? Give at least one with --key, from a place that is not the release itself"
            )
        }
        var trusted = TrustedKeys(try keys.map(Self.key))
        if let revoked {
            do { trusted.revoked = try RevokedKeys(try Self.text(of: revoked)) } catch {
                throw CommandEnd(code: 2, message: "--revoked \(TerminalText.name(revoked)): \(error)")
            }
        }
        return trusted
    }

    /// A key from its text, else from the file of this name.
    private static func key(_ given: String) throws -> PublicKey {
        if let key = try? PublicKey(given) { return key }
        do { return try PublicKey(try text(of: given)) } catch {
            throw CommandEnd(code: 2, message: "--key \(TerminalText.name(given)): \(error)")
        }
    }

    private static func text(of file: String) throws(SigningError) -> String {
        guard let data = try ReleaseBytes.content(of: file, limit: 1 << 20) else {
            throw SigningError(.missing, "this is neither a public key nor a file that exists")
        }
        return String(decoding: data, as: UTF8.self)
    }

    private func expectations() throws -> ReleaseVerifier.Expectations {
        var expected = ReleaseVerifier.Expectations(version: releaseVersion, commit: commit, repository: from)
        if let commit, !(7...64).contains(commit.utf8.count) || !commit.allSatisfy(\.isHexDigit) {
            throw CommandEnd(code: 2, message: "--commit wants 7 to 64 hexadecimal digits")
        }
        if let atLeast {
            expected.atLeast = OrderedVersion(atLeast)
            guard expected.atLeast != nil else {
                throw CommandEnd(code: 2, message: "--at-least wants a version such as 1.2.0 or 1.2.0-beta.1")
            }
        }
        return expected
    }
}
