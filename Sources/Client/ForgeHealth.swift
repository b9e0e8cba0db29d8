package import ForgeConnection
import Results
package import Control
import Foundation
package import Forges
import SystemPackage
import TerminalText

/// A connection to a forge, with the forge's present answer: for `forge status` and `doctor`.
package struct ForgeHealth: Encodable, Sendable {
    package var status: ForgeStatus
    package var address: ForgeAddress?
    package var identity: ForgeIdentity?
    /// Why the forge can't be used now.
    package var problem: String?

    /// The connections of `statuses`; each forge is asked, unless `asksForges` is false.
    ///
    /// - Parameter folder: The folder of stored credentials.
    package static func all(_ statuses: [ForgeStatus], credentials folder: String, asksForges: Bool) async
        -> [ForgeHealth]
    {
        let store = ForgeCredentialStore(folder: FilePath(folder))
        var found: [ForgeHealth] = []
        for status in statuses { found.append(await of(status, store, asksForges: asksForges)) }
        return found
    }

    private static func of(
        _ status: ForgeStatus, _ store: ForgeCredentialStore, asksForges: Bool
    ) async -> ForgeHealth {
        var health = ForgeHealth(status: status)
        do {
            let address = try ForgeAddress(json: status.address)
            health.address = address
            guard let (credential, _) = try store.credential(for: status.repository) else {
                health.problem = "no credential is set; run `pipectl forge connect` again"
                return health
            }
            if asksForges { health.identity = try await ForgeConnector.identity(at: address, with: credential) }
        } catch {
            health.problem = "\(error)"
        }
        return health
    }

    /// Whether verdicts reach the forge.
    package var isGood: Bool {
        problem == nil && identity?.lacking.isEmpty ?? true && status.refusals.isEmpty && status.failures == 0
    }

    /// For people, with a row for each fact.
    package var text: String {
        ([name] + rows.map { "  \($0)" }).map { TerminalText.name($0, limit: 2_000) }.joined(separator: "\n")
    }

    /// On one line.
    package var line: String { TerminalText.name(([name] + rows).joined(separator: "; "), limit: 2_000) }

    private var name: String { "\(status.repository)  \(address?.web ?? status.address)" }

    private var rows: [String] {
        var rows: [String] = []
        if let identity {
            let needed = identity.lacking.map(\.name)
            rows.append(
                "reachable as \(identity.login)"
                    + (needed.isEmpty ? "" : "; missing: \(needed.joined(separator: ", "))"))
            for other in identity.permissions where !other.isNeeded && !other.isGranted {
                rows.append("without \(other.name): can't \(other.purpose)")
            }
            if let limit = identity.rateLimit {
                let reset = limit.resetsAt.map { ", all again at \($0.iso8601Seconds)" } ?? ""
                rows.append("requests left: \(limit.remaining) of \(limit.limit)\(reset)")
            }
        }
        if let problem { rows.append("✗ \(problem)") }
        if status.undelivered > 0 {
            let when = status.nextTry.map { ", next try at \($0.iso8601Seconds)" } ?? ""
            rows.append(
                "undelivered: \(status.undelivered)\(status.failures > 0 ? ", failed \(status.failures) times" : "")\(when)"
            )
        } else {
            rows.append("everything is delivered")
        }
        for refusal in status.refusals.prefix(5) { rows.append("refused: \(refusal.thing): \(refusal.reason)") }
        if status.refusals.count > 5 { rows.append("and \(status.refusals.count - 5) more refused") }
        return rows
    }
}
