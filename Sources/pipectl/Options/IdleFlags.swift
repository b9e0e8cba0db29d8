import Client
import Control
import Settings

/// Flags that change nothing while a daemon runs, because the daemon decides with its own settings.
enum IdleFlags {
    /// The flags that differ from the daemon's settings, as typed.
    static func missing(_ given: [GivenFlag], of daemon: [SettingRecord]) -> [String] {
        let values = Dictionary(daemon.map { ($0.key, $0.value) }) { first, _ in first }
        return given.filter { flag in
            guard let own = try? flag.setting.read([flag.text], isFlag: true) else { return true }
            guard let value = values[flag.setting.key] ?? nil else { return true }
            return !own.texts.allSatisfy(value.texts.contains)
        }.map(\.typed)
    }

    /// Refuses flags that would have no effect.
    ///
    /// - Throws: ``CommandEnd`` with code 2 that names them.
    static func check(_ given: [GivenFlag], _ access: DaemonAccess) async throws {
        guard !given.isEmpty, case .daemon(let client) = access,
            case .settings(let settings) = try await client.ask(.settings)
        else { return }
        let missing = missing(given, of: settings)
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
