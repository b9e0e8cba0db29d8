import ArgumentParser
import Client
import Delivery
import Foundation
import TerminalText

struct Upgrade: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "upgrade", abstract: "Says whether there is a newer pipectl; installs nothing.",
        discussion: """
            Exits with 0 if this is the newest version, and with 1 if there is a newer one. The address is that of a \
            release.json, of a list of releases as forges have it, or a folder of packages. $PIPECTL_RELEASES can name it. \
            Verify what you download with `pipectl verify` before you install it.
            """)

    @Flag(help: "Compare this version with the newest one.") var check = false
    @Option(
        name: .customLong("from"),
        help: ArgumentHelp("Where the releases are. Default: $PIPECTL_RELEASES.", valueName: "path or URL"))
    var source: String?
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if !check {
            throw ValidationError("upgrade only looks: use --check. Packages are installed by apt, brew or by hand")
        }
    }

    func run() async throws {
        guard let source = source ?? ProcessInfo.processInfo.environment["PIPECTL_RELEASES"], !source.isEmpty else {
            throw CommandEnd(
                code: 2, message: "say where the releases are: --from PATH-OR-URL, or the variable PIPECTL_RELEASES")
        }
        let found: UpgradeCheck.Finding
        do { found = try await UpgradeCheck(source: source, version: Version.text).run() } catch let problem
            as DeliveryProblem
        {
            throw CommandEnd(code: 3, message: "\(problem)")
        }
        if json {
            try JSONOutput.print(found)
        } else {
            Terminal.print(
                found.isNewer
                    ? "\(TerminalText.name(found.newest)) is newer than this pipectl, \(found.version)"
                    : "this pipectl, \(found.version), is the newest")
        }
        if found.isNewer { throw CommandEnd(code: 1, message: nil) }
    }
}
