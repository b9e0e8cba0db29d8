import TerminalText

#if os(Linux)
    import Foundation
    import Glibc

    /// A group of version 2 that systemd creates and delegates on request: a scope (systemd.scope(5)).
    ///
    /// The group of a login shell belongs to root and contains other programs. On request, systemd moves this process
    /// to a group of its own, as `systemd-run --scope -p Delegate=yes` does for a command that it starts.
    struct SystemdScope: Equatable {
        /// Whether the user's systemd is asked; as root it is the machine's.
        var isOfUser: Bool
        /// The unit that this process is in now, if it is a service. The scope must end with it.
        var service: String?
        /// The signal that systemd sends to every process of the scope when it stops the scope; nil: SIGTERM.
        var stopSignal: Int32?

        /// The variable that forbids asking systemd, with the value `none`.
        static let variable = "PIPECTL_SCOPE"

        /// Decides whether a process may ask; nil if it must stay in its group.
        ///
        /// systemd knows a service by its main process, so this process must not leave its group.
        ///
        /// - Parameters:
        ///   - group: The process's group, as /proc/self/cgroup has it.
        ///   - environment: `PIPECTL_SCOPE=none` forbids it; `SYSTEMD_EXEC_PID` names a service's main process.
        init?(group: String, user: uid_t, process: pid_t, environment: [String: String]) {
            if environment[SystemdScope.variable] == "none" { return nil }
            let units = group.split(separator: "/").filter { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }
            guard let unit = units.last.map(String.init) else { return nil }
            isOfUser = user != 0
            guard unit.hasSuffix(".service") else { return }
            // Only the machine's systemd can tie a scope to a service of the machine.
            let isOfMachine = !units.contains { $0.hasPrefix("user@") }
            guard isOfUser != isOfMachine, environment["SYSTEMD_EXEC_PID"] != String(process) else { return nil }
            service = unit
        }

        /// The command for busctl(1) that moves a process to a new scope.
        func words(for process: pid_t) -> [String] {
            var properties = [
                ["PIDs", "au", "1", String(process)], ["Delegate", "b", "true"],
                ["CollectMode", "s", "inactive-or-failed"], ["Description", "s", "pipectl, process \(process)"],
            ]
            if let stopSignal { properties.append(["KillSignal", "i", String(stopSignal)]) }
            if let service {
                properties += [["BindsTo", "as", "1", service], ["After", "as", "1", service]]
            }
            return [
                isOfUser ? "--user" : "--system", "--timeout=5", "call", "org.freedesktop.systemd1",
                "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StartTransientUnit",
                "ssa(sv)a(sa(sv))", "pipectl-\(process).scope", "fail", String(properties.count),
            ] + properties.joined() + ["0"]
        }

        /// Asks systemd to move this process, and waits until it has done so.
        ///
        /// - Throws: ``GroupObstacle/noScope(_:)``.
        func enter(environment: [String: String]) async throws {
            let programs: [String] = ["/usr/bin/busctl", "/bin/busctl"]
            guard let program = programs.first(where: { access($0, X_OK) == 0 }) else {
                throw GroupObstacle.noScope("busctl is missing; it belongs to systemd")
            }
            var variables = environment
            let runtime = "/run/user/\(geteuid())"
            if isOfUser, variables["XDG_RUNTIME_DIR"] == nil, access("\(runtime)/bus", W_OK) == 0 {
                variables["XDG_RUNTIME_DIR"] = runtime
            }
            let before = SystemdScope.ownGroup
            let result: ExternalCommandResult
            do {
                result = try await ExternalCommand(
                    program, words(for: getpid()), in: "/", environment: variables, deadline: .seconds(10)
                ).run()
            } catch let error as ExternalCommandError {
                throw GroupObstacle.noScope("\(error)")
            }
            guard result.succeeded else {
                let said = result.text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "nothing"
                throw GroupObstacle.noScope("busctl failed: \(TerminalText.name(said))")
            }
            // The reply says only that there is a job; the job is done a moment later.
            let limit = ContinuousClock.now + .seconds(5)
            while SystemdScope.ownGroup == before {
                guard ContinuousClock.now < limit else {
                    throw GroupObstacle.noScope("this process was not moved to its scope within 5 s")
                }
                try await Task.sleep(for: .milliseconds(5))
            }
        }

        /// Whether this user's systemd continues without a session (loginctl(1), `enable-linger`).
        static var userLingers: Bool {
            guard let name = getpwuid(geteuid()).flatMap({ String(validatingCString: $0.pointee.pw_name) }) else {
                return false
            }
            return access("/var/lib/systemd/linger/\(name)", F_OK) == 0
        }

        /// This process's group of version 2.
        static var ownGroup: String? {
            (try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8))?.split(separator: "\n")
                .first { $0.hasPrefix("0::") }.map { String($0.dropFirst(3)) }
        }
    }
#endif
