import Foundation
package import Sandbox

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Installs the service of a ``ServiceFile``, removes it, and says how it is.
///
/// Each method may be called again: what is as it should be is left alone.
package struct ServiceInstallation: Sendable {
    package let file: ServiceFile
    /// The file's absolute path.
    package let path: String
    /// Runs systemctl or launchctl to its end.
    private let manager: @Sendable ([String]) async throws -> ExternalCommandResult
    /// Hears each thing that is done, as a sentence.
    private let say: @Sendable (String) -> Void

    /// - Parameters:
    ///   - path: Where the file is; nil is the manager's own folder, for a user the one in `home`.
    ///   - manager: Runs the manager's command with these arguments.
    package init(
        _ file: ServiceFile, path: String? = nil, home: String, say: @escaping @Sendable (String) -> Void,
        manager: @escaping @Sendable ([String]) async throws -> ExternalCommandResult
    ) {
        self.file = file
        self.path = path ?? Self.path(file.manager, home: home)
        self.say = say
        self.manager = manager
    }

    private static func path(_ manager: ServiceFile.Manager, home: String) -> String {
        switch manager {
        case .system: "/etc/systemd/system/\(ServiceFile.name).service"
        case .user: "\(home)/.config/systemd/user/\(ServiceFile.name).service"
        case .launchd: "\(home)/Library/LaunchAgents/\(ServiceFile.label).plist"
        }
    }

    private var present: String? { try? String(contentsOfFile: path, encoding: .utf8) }

    /// Writes the file if it differs, and starts the service now and at each boot.
    ///
    /// A service that runs already with this file goes on; one with another file starts again, after its runs have ended.
    ///
    /// - Throws: ``ServiceProblem``.
    package func install() async throws {
        if file.manager != .launchd { try await checkManager() }
        let isSame = present == file.text
        if isSame {
            say("\(path) is up to date")
        } else {
            do {
                try FileManager.default.createDirectory(
                    atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
                try Data(file.text.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
            } catch {
                throw ServiceProblem(
                    .notWritable, "\(path) can't be written: \(error.localizedDescription). \(file.manager.remedy)")
            }
            say("wrote \(path)")
        }
        guard file.manager == .launchd else { return try await startUnit(isSame: isSame) }
        if isSame, try await condition().0 == .running { return say("the service runs") }
        // A service that launchd has loaded keeps its old file until it is booted out.
        _ = try await manager(["bootout", "\(Self.domain)/\(ServiceFile.label)"])
        try await order(["bootstrap", Self.domain, path])
    }

    /// Without systemd the file would only lie there.
    private func checkManager() async throws {
        let version = try? await manager(["show", "--property=Version"])
        guard version?.succeeded == true else {
            let said = version?.text.split(separator: "\n").first.map { ": \($0)" } ?? ""
            throw ServiceProblem(
                .refused, "`\(file.manager.command)` does not answer\(said). \(file.manager.remedy)")
        }
    }

    private func startUnit(isSame: Bool) async throws {
        if !isSame { try await order(["daemon-reload"]) }
        let activity = try await condition().0
        let isRunning = [.running, .waiting].contains(activity)
        try await order(["enable", "--quiet", ServiceFile.name])
        if isSame, isRunning { return say("the service runs") }
        // The restart waits for runs that go on, so it is not waited for.
        if isRunning || activity == .starting && !isSame {
            return try await order(["--no-block", "restart", ServiceFile.name])
        }
        do { try await order(["start", ServiceFile.name]) } catch {
            let (activity, reason) = try await condition()
            guard activity == .failed else { throw error }
            throw ServiceProblem(
                .doesNotStart,
                """
                the service ended at once: \(reason ?? "`\(file.manager.logCommand)` says why")
                  systemd starts it again every 5 s, so it runs when that is corrected.
                """)
        }
    }

    /// Stops the service, lets its runs end, and removes the file. The state folder stays.
    ///
    /// - Throws: ``ServiceProblem``.
    package func uninstall() async throws {
        guard present != nil else { return say("\(path) is not there: nothing to remove") }
        if file.manager == .launchd {
            _ = try await manager(["bootout", "\(Self.domain)/\(ServiceFile.label)"])
        } else {
            say("stopping the service; runs that go on end first")
            try await order(["disable", "--quiet", "--now", ServiceFile.name])
        }
        do { try FileManager.default.removeItem(atPath: path) } catch {
            throw ServiceProblem(
                .notWritable, "\(path) can't be removed: \(error.localizedDescription). \(file.manager.remedy)")
        }
        say("removed \(path); the state folder stays")
        if file.manager != .launchd { try await order(["daemon-reload"]) }
    }

    /// How the service is.
    package struct Status: Sendable, Equatable, Codable {
        package var path: String
        /// Whether the file is there.
        package var isInstalled: Bool
        /// Whether it is what this pipectl would write.
        package var isCurrent: Bool
        package var activity: Activity
        /// Why it waits or failed, in the service's own words.
        package var reason: String?
    }

    /// What the service does.
    package enum Activity: String, Sendable, Codable {
        /// It answers commands.
        case running
        /// Its process runs, and waits until another one lets go of the state folder.
        case waiting
        case starting
        /// It lets its runs end.
        case stopping
        /// It ended with an error; it may be tried again.
        case failed
        case stopped
    }

    package func status() async throws -> Status {
        let text = present
        let (activity, reason) = text == nil ? (.stopped, nil) : try await condition()
        return Status(
            path: path, isInstalled: text != nil, isCurrent: text == file.text, activity: activity, reason: reason)
    }

    /// What the service does, and why it waits or failed if it said so.
    private func condition() async throws -> (Activity, reason: String?) {
        guard file.manager == .launchd else {
            let shown = try await manager(["show", "--property=ActiveState,SubState,StatusText", ServiceFile.name])
            var properties: [Substring: String] = [:]
            for line in shown.text.split(separator: "\n") {
                let parts = line.split(separator: "=", maxSplits: 1)
                if parts.count == 2 { properties[parts[0]] = String(parts[1]) }
            }
            let activity = Activity(state: properties["ActiveState"], detail: properties["SubState"])
            let said = properties["StatusText"]
            switch activity {
            case .running: return said == nil ? (.running, nil) : (.waiting, said)
            case .failed: return (.failed, said)
            default: return (activity, nil)
            }
        }
        let printed = try await manager(["print", "\(Self.domain)/\(ServiceFile.label)"])
        return (printed.succeeded && printed.text.contains("state = running") ? .running : .stopped, nil)
    }

    private func order(_ words: [String]) async throws {
        let result = try await manager(words)
        guard result.succeeded else {
            let said = result.text.trimmingCharacters(in: .whitespacesAndNewlines)
            throw ServiceProblem(
                .refused,
                "`\(file.manager.command) \(words.joined(separator: " "))` failed: \(said). \(file.manager.remedy)")
        }
        say("\(file.manager.command) \(words.joined(separator: " "))")
    }

    private static var domain: String { "gui/\(getuid())" }
}

extension ServiceInstallation.Activity {
    /// What the service does, as in "the service …".
    package var inWords: String {
        switch self {
        case .running: "runs"
        case .waiting: "waits"
        case .starting: "starts"
        case .stopping: "stops, when its runs have ended"
        case .failed: "failed"
        case .stopped: "does not run"
        }
    }

    /// - Parameters:
    ///   - state: systemd's `ActiveState` of the unit: systemctl(1).
    ///   - detail: Its `SubState`.
    fileprivate init(state: String?, detail: String?) {
        self =
            switch state {
            case "active", "reloading": .running
            // Between two attempts it is none that starts.
            case "activating": detail?.hasPrefix("auto-restart") == true ? .failed : .starting
            case "deactivating": .stopping
            case "failed": .failed
            default: .stopped
            }
    }
}

extension ServiceFile.Manager {
    /// The manager's command, as a person would start it.
    package var command: String {
        switch self {
        case .system: "systemctl"
        case .user: "systemctl --user"
        case .launchd: "launchctl"
        }
    }

    /// The command that shows what the service has said.
    package var logCommand: String {
        switch self {
        case .system: "journalctl -e -u \(ServiceFile.name)"
        case .user: "journalctl --user -e -u \(ServiceFile.name)"
        case .launchd: "tail ~/Library/Logs/pipectl.log"
        }
    }

    fileprivate var remedy: String {
        switch self {
        case .system:
            "The machine's service takes systemd and root: use sudo, or `pipectl service install` for your own."
        case .user: "It takes a systemd of your own: log in again, or run `loginctl enable-linger` once."
        case .launchd: "It takes the session of a user who is logged in at the screen."
        }
    }
}

/// Why a service is not installed or removed.
package struct ServiceProblem: Error, Sendable, CustomStringConvertible {
    package struct Code: RawRepresentable, Hashable, Sendable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The file can't be written or removed.
        package static let notWritable = Code(rawValue: "not writable")
        /// systemd or launchd refused.
        package static let refused = Code(rawValue: "refused")
        /// It was started, and ended at once.
        package static let doesNotStart = Code(rawValue: "does not start")
        /// A value would break the file.
        package static let unusableValue = Code(rawValue: "unusable value")
        /// The machine has no user of this name.
        package static let unknownUser = Code(rawValue: "unknown user")
    }

    package var code: Code
    package var description: String

    package init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }
}
