import Sandbox
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The `stepinit` processes of a run: one for each policy, started with the first step that has the policy.
final class StepHosts: Sendable {
    private let place: LocalPlace
    private let group: ControlGroup?
    private let hosts = Mutex<[SandboxPolicy: StepHost]>([:])

    /// - Parameter group: The run's control group.
    init(place: LocalPlace, group: ControlGroup?) {
        self.place = place
        self.group = group
    }

    /// - Parameter place: The place of the step, which may have folders of its own.
    func host(for policy: SandboxPolicy, in place: LocalPlace) -> StepHost {
        // Without a sandbox, all policies are the same.
        let key = place.runSandbox == nil ? SandboxPolicy() : policy
        return hosts.withLock { hosts in
            if let host = hosts[key] { return host }
            let words = place.hostCommand(policy, groups: group?.count ?? 0)
            let host =
                place.standby?.take(startedWith: words, seeing: place.workspaceMount)
                ?? place.stepHost(words, group)
            hosts[key] = host
            return host
        }
    }

    /// The process ids of those that were started; all processes of steps are their descendants.
    var processes: [pid_t] { hosts.withLock { Array($0.values) }.compactMap(\.process) }

    /// Ends all of them and waits for that. Returns false if a process of theirs may still be alive.
    func close() -> Bool {
        let isIdleEnded = place.standby?.close() ?? true
        let all = hosts.withLock { $0.values }
        return all.reduce(isIdleEnded) { $1.close() && $0 }
    }
}
