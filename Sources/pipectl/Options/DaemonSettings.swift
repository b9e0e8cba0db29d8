import BuildBox
import Client
import Control

/// Options that only a daemon decides about: while one runs, those of a single command would change nothing.
enum DaemonSettings {
    /// The options that were given here and that the daemon was not started with, as they would be typed.
    static func missing(_ given: [String: [String]], of daemon: [String: [String]]) -> [String] {
        given.sorted { $0.key < $1.key }.flatMap { name, values in
            values.filter { !(daemon[name] ?? []).contains($0) }.map { $0.isEmpty ? "--\(name)" : "--\(name) \($0)" }
        }
    }

    /// Refuses options that would be ignored.
    ///
    /// - Throws: ``CommandEnd`` with code 2 that names them.
    static func check(_ given: [String: [String]], _ access: DaemonAccess) async throws {
        guard !given.isEmpty, case .daemon(let client) = access,
            case .status(let status) = try await client.ask(.status)
        else { return }
        let missing = missing(given, of: status.settings ?? [:])
        guard !missing.isEmpty else { return }
        let one = missing.count == 1
        throw CommandEnd(
            code: 2,
            message:
                "a daemon runs, and \(missing.joined(separator: ", ")) \(one ? "is a setting" : "are settings") of "
                + "its own: start `pipectl watch` with \(one ? "it" : "them"), or leave \(one ? "it" : "them") out here"
        )
    }
}
