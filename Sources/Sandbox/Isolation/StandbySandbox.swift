import Synchronization
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A sandbox that was started before there was a run for it: nothing has ever run in it but `stepinit`.
///
/// Starting a sandbox takes the kernel some milliseconds, most of them for its namespaces. One that waits has the user,
/// the folders, the control group and the first supervisor of its later run. It serves that run if the run would start the
/// same sandbox, word for word and within the same limits, and is ended otherwise.
public final class StandbySandbox: Sendable {
    private let words: [String]
    /// Limits are handed down when a process is started: those of this one may be others by now.
    private let limits: InheritedLimits
    private let host: Mutex<StepHost?>
    private let groups: ControlGroups?
    private let groupName: String
    /// Where it sees the workspace.
    private let workspace: FilePath

    /// Starts a sandbox; blocks.
    ///
    /// - Parameters:
    ///   - groupName: What the control group of its run is called. The group has no limits yet, for nothing runs in it: the
    ///     run sets its own.
    ///   - workspace: Where it sees the workspace.
    ///   - isEnclosed: Whether its `stepinit` is the first process of a sandbox.
    ///   - words: Start it, given how many control groups it finds an entrance to.
    /// - Throws: Why it can't be started; then nothing of it is left.
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

    /// Its `stepinit`, once, if it was started with these words and limits and sees what is mounted as the run's workspace;
    /// then it is the caller's to close.
    package func take(startedWith words: [String], seeing mount: WorkspaceMount?) -> StepHost? {
        guard words == self.words, limits == .current else { return nil }
        return host.withLock { host in
            if let mount, host?.sees(mount.view, at: workspace) != true { return nil }
            return host.take()
        }
    }

    /// Ends it unless it was taken, and waits for that.
    ///
    /// - Returns: Whether it is certain that nothing of it lives.
    @discardableResult public func close() -> Bool {
        guard let host = host.withLock({ $0.take() }) else { return true }
        return host.close()
    }

    /// The same for one that no run will have, with its control group.
    @discardableResult public func discard() -> Bool {
        let isOver = close()
        groups?.removeGroup(ofRun: groupName)
        return isOver
    }
}

/// What a new process takes over of ours: what setrlimit(2) bounds, soft and hard, and the priority.
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
