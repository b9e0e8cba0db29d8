import Synchronization
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A sandbox that is started before there is a run for it; nothing but `stepinit` has ever run in it.
///
/// Starting a sandbox takes the kernel some milliseconds, most of them for its namespaces. A standby sandbox already
/// has the user, the folders, the control group and the first supervisor of its later run. The run uses it if it would
/// start the same sandbox with the same command and limits; otherwise it is ended.
public final class StandbySandbox: Sendable {
    private let words: [String]
    /// A process inherits its limits when it starts; those of this process may differ by now.
    private let limits: InheritedLimits
    private let host: Mutex<StepHost?>
    private let groups: ControlGroups?
    private let groupName: String
    /// The path at which the sandbox shows the workspace.
    private let workspace: FilePath

    /// Starts a sandbox; blocks.
    ///
    /// - Parameters:
    ///   - groupName: The name of the run's control group. The group has no limits yet, since nothing runs in it; the
    ///     run sets its own.
    ///   - workspace: The path at which the sandbox shows the workspace.
    ///   - isEnclosed: Whether its `stepinit` is the first process of a sandbox.
    ///   - words: Returns the command, given the number of control group descriptors that it finds.
    /// - Throws: Why it can't be started; nothing of it is left then.
    package init(
        groups: ControlGroups?, groupName: String, workspace: FilePath, isEnclosed: Bool,
        startedWith words: (_ groups: Int) -> [String]
    ) throws {
        (self.groups, self.groupName, self.workspace) = (groups, groupName, workspace)
        let group = try groups?.run(named: groupName, nil)
        self.words = words(group?.count ?? 0)
        limits = .current
        let host = StepHost(command: self.words, group: group?.rest, isEnclosed: isEnclosed)
        self.host = Mutex(host)
        do { try host.startWithSupervisor() } catch {
            groups?.removeGroup(ofRun: groupName)
            throw error
        }
    }

    /// Returns its `stepinit` if it was started with these words and limits and sees the mount of the run's workspace;
    /// otherwise nil. It returns it once, and the caller must close it.
    package func take(startedWith words: [String], seeing mount: WorkspaceMount?) -> StepHost? {
        guard words == self.words, limits == .current else { return nil }
        return host.withLock { host in
            if let mount, host?.sees(mount.view, at: workspace) != true { return nil }
            return host.take()
        }
    }

    /// Ends the sandbox unless a run took it, and waits for its end.
    ///
    /// - Returns: Whether it is certain that no process of it is alive.
    @discardableResult public func close() -> Bool {
        guard let host = host.withLock({ $0.take() }) else { return true }
        return host.close()
    }

    /// Ends a sandbox that no run will use, and removes its control group.
    @discardableResult public func discard() -> Bool {
        let isOver = close()
        groups?.removeGroup(ofRun: groupName)
        return isOver
    }
}

/// What a new process inherits from this one: the soft and hard limits of setrlimit(2), and the priority.
struct InheritedLimits: Equatable {
    var limits: [rlim_t]
    var priority: Int32

    static var current: InheritedLimits {
        #if os(Linux)
            let kinds = (0...__RLIMIT_RTTIME.rawValue).map { __rlimit_resource_t($0) }
            let ours = getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)
        #else
            let kinds = 0..<RLIM_NLIMITS
            let ours = getpriority(PRIO_PROCESS, 0)
        #endif
        return InheritedLimits(
            limits: kinds.flatMap { kind in
                var limit = rlimit()
                return getrlimit(kind, &limit) == 0 ? [limit.rlim_cur, limit.rlim_max] : []
            }, priority: ours)
    }
}
