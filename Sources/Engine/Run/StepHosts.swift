import Sandbox
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The `stepinit` processes of a run: one for each policy, started with the first step that has the policy.
final class StepHosts: Sendable {
    private let setting: RunSetting
    private let group: ControlGroup?
    private let hosts = Mutex<[SandboxPolicy: StepHost]>([:])
    /// The run's thread; nil if the system could not create one.
    let loop: StepLoop?

    /// - Parameter group: The run's control group.
    init(setting: RunSetting, group: ControlGroup?, loop: StepLoop?) {
        self.setting = setting
        self.group = group
        self.loop = loop
    }

    /// - Parameter setting: The setting of the step, which may have folders of its own.
    func host(for policy: SandboxPolicy, in setting: RunSetting) -> StepHost {
        // Without a sandbox, all policies are the same.
        let key = setting.runSandbox == nil ? SandboxPolicy() : policy
        return hosts.withLock { hosts in
            if let host = hosts[key] { return host }
            let words = setting.hostCommand(policy, groups: group?.count ?? 0)
            let host =
                setting.standby?.take(startedWith: words, seeing: setting.workspaceMount)
                ?? setting.stepHost(words, group)
            hosts[key] = host
            return host
        }
    }

    /// The process ids of those that were started; all processes of steps are their descendants.
    var processes: [pid_t] { hosts.withLock { Array($0.values) }.compactMap(\.process) }

    /// Ends all of them and waits for that. Returns false if a process of theirs may still be alive.
    func close() -> Bool {
        let isIdleEnded = setting.standby?.close() ?? true
        let all = hosts.withLock { $0.values }
        return all.reduce(isIdleEnded) { $1.close() && $0 }
    }
}
