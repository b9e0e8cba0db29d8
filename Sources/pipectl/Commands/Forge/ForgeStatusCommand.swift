import StateFiles
import Client
import ArgumentParser
import Control
import Foundation
import Forges
import SystemPackage
import TerminalText

struct ForgeStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Lists connections to forges, whether they answer, and what is not delivered yet.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Do not contact the forges.") var offline = false
    @Flag(help: "Prints JSON.") var json = false

    /// A connection, with the forge's present answer.
    private struct Line: Encodable {
        var status: ForgeStatus
        var address: ForgeAddress?
        var identity: ForgeIdentity?
        /// Why the forge can't be used now.
        var problem: String?
    }

    func run() async throws {
        let all = try await state.ask(.forges, "forge status") {
            if case .forges(let all) = $0 { all } else { nil }
        }
        let store = ForgeCredentialStore(folder: FilePath(try state.folder().forges))
        var lines: [Line] = []
        for status in all { lines.append(await line(status, store)) }
        if json { return try JSONOutput.print(lines) }
        if lines.isEmpty { return Terminal.say("no repository is connected; pipectl forge connect URL connects one") }
        for line in lines { Terminal.print(Self.text(line)) }
        if lines.contains(where: { $0.problem != nil }) { throw CommandEnd(code: 3, message: nil) }
    }

    private func line(_ status: ForgeStatus, _ store: ForgeCredentialStore) async -> Line {
        var line = Line(status: status)
        do {
            let address = try ForgeAddress(json: status.address)
            line.address = address
            guard let (credential, _) = try store.credential(for: status.repository) else {
                line.problem = "no credential is set; run `pipectl forge connect` again"
                return line
            }
            if !offline { line.identity = try await ForgeConnector.identity(at: address, with: credential) }
        } catch {
            line.problem = "\(error)"
        }
        return line
    }

    private static func text(_ line: Line) -> String {
        let status = line.status
        var rows = ["\(status.repository)  \(line.address?.web ?? status.address)"]
        if let identity = line.identity {
            let lacking = identity.permissions.filter { !$0.isGranted }.map(\.name)
            rows.append(
                "  reachable as \(identity.login)"
                    + (lacking.isEmpty ? "" : "; missing: \(lacking.joined(separator: ", "))"))
        }
        if let problem = line.problem { rows.append("  ✗ \(problem)") }
        if status.undelivered > 0 {
            let when = status.nextTry.map { ", next try at \($0.formatted(.iso8601))" } ?? ""
            rows.append(
                "  undelivered: \(status.undelivered)\(status.failures > 0 ? ", failed \(status.failures) times" : "")\(when)"
            )
        } else {
            rows.append("  everything is delivered")
        }
        for refusal in status.refusals.prefix(5) { rows.append("  refused: \(refusal.thing): \(refusal.reason)") }
        if status.refusals.count > 5 { rows.append("  and \(status.refusals.count - 5) more refused") }
        return rows.map { TerminalText.name($0, limit: 2_000) }.joined(separator: "\n")
    }
}
