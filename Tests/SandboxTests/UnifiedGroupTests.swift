#if os(Linux)
    import Glibc
    import Testing

    @testable import Sandbox

    /// Which group of version 2 the daemon uses, decided from the kernel's facts about its own.
    struct UnifiedGroupTests {
        private let folder = "/sys/fs/cgroup/system.slice/pipectl.service"
        private var service: UnifiedGroup.Facts {
            .init(
                folder: folder, controllers: ["cpu", "memory", "pids"], kind: "domain", processes: [10, 11],
                isWritable: true)
        }

        private func judged(_ change: (inout UnifiedGroup.Facts) -> Void) -> UnifiedGroup {
            var facts = service
            change(&facts)
            return UnifiedGroup(facts, isOurs: { $0 < 20 })
        }

        @Test func `a delegated group is used and emptied first`() {
            #expect(judged { _ in } == .usable(folder: folder, moving: [10, 11]))
            // An earlier call has moved them already.
            #expect(judged { $0.processes = [] } == .usable(folder: folder, moving: []))
            // No limit needs it.
            #expect(judged { $0.controllers.remove("cpu") } == .usable(folder: folder, moving: [10, 11]))
        }

        @Test func `the reason why a group can't be used is named`() {
            #expect(UnifiedGroup(nil, isOurs: { _ in true }) == .unusable(.noHierarchy))
            #expect(judged { $0.isWritable = false } == .unusable(.notDelegated(folder)))
            #expect(judged { $0.controllers = ["memory"] } == .unusable(.lacks(["pids"], folder)))
            #expect(judged { $0.controllers = [] } == .unusable(.lacks(["memory", "pids"], folder)))
            #expect(judged { $0.processes = [10, 99] } == .unusable(.shared(1, folder)), "a shell around it")
            for kind in ["domain threaded", "domain invalid", "threaded"] {
                #expect(judged { $0.kind = kind } == .unusable(.kind(kind, folder)))
            }
        }
    }

    /// When pipectl asks systemd for a group, and for which.
    struct SystemdScopeTests {
        private func asked(_ group: String, user: UInt32 = 1_000, _ variables: [String: String] = [:]) -> SystemdScope?
        {
            SystemdScope(group: group, user: user, process: 77, environment: variables)
        }

        @Test func `a login asks the systemd of its user`() throws {
            let scope = try #require(asked("/user.slice/user-1000.slice/session-3.scope"))
            #expect(scope.isOfUser && scope.service == nil)
            let words = scope.words(for: 77)
            #expect(words.first == "--user" && words.contains("pipectl-77.scope"))
            #expect(words.joined(separator: " ").contains("PIDs au 1 77 Delegate b true"))
            #expect(!words.contains("BindsTo"))
        }

        @Test func `root asks the systemd of the machine`() throws {
            let scope = try #require(asked("/user.slice/user-0.slice/session-1.scope", user: 0))
            #expect(!scope.isOfUser && scope.words(for: 77).first == "--system")
        }

        /// A step that the scope's stop signal ended would fail its run.
        @Test func `a scope is stopped by a signal that steps ignore`() throws {
            var scope = try #require(asked("/user.slice/user-0.slice/session-1.scope", user: 0))
            #expect(!scope.words(for: 77).contains("KillSignal"))
            scope.stopSignal = SIGURG
            let words = scope.words(for: 77).joined(separator: " ")
            #expect(words.contains("KillSignal i \(SIGURG)"))
            #expect(words.contains(" 5 PIDs"), "systemd is told how many properties follow")
        }

        /// systemd knows a service by its main process, which must stay in the group.
        @Test func `the main process of a service stays in its group`() {
            #expect(asked("/system.slice/pipectl.service", user: 0, ["SYSTEMD_EXEC_PID": "77"]) == nil)
            #expect(asked("/system.slice/pipectl.service", user: 1_000, ["SYSTEMD_EXEC_PID": "77"]) == nil)
            #expect(asked("/user.slice/user-1000.slice/user@1000.service/app.slice/a.service") != nil)
        }

        /// A process that a service starts ends with it, also in a scope.
        @Test func `a process that a service starts is bound to it`() throws {
            let script = try #require(asked("/system.slice/agent.service", user: 0, ["SYSTEMD_EXEC_PID": "70"]))
            #expect(script.service == "agent.service")
            #expect(script.words(for: 77).joined(separator: " ").contains("BindsTo as 1 agent.service"))
            // The user's own systemd does not know the machine's services.
            #expect(asked("/system.slice/agent.service", user: 1_000, ["SYSTEMD_EXEC_PID": "70"]) == nil)
        }

        @Test func `without a unit, or if that is forbidden, systemd is not asked`() {
            #expect(asked("/") == nil && asked("") == nil && asked("/docker/4f1d") == nil)
            let login = "/user.slice/user-1000.slice/session-3.scope"
            #expect(asked(login, [SystemdScope.variable: "none"]) == nil)
            #expect(asked(login, [SystemdScope.variable: ""]) != nil)
        }
    }
#endif
