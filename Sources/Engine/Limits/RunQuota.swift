import Concurrency
import Results
import Pipeline
import Sandbox
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The limits of a run and of each of its steps, and their usage so far.
final class RunQuota: Sendable {
    /// The limits of the whole run.
    let limits: Limits

    private let controlGroups: ControlGroups?
    /// The name of the run's control group.
    private let groupName: String
    /// The control group of all processes of the run; nil without control groups.
    let group: ControlGroup?
    /// The counters of ``group``.
    let counters: GroupCounters?
    private let meter: WorkspaceMeter
    /// The attempts that run now: the sum of their memory limits in bytes, the number of those without a limit, and
    /// when either changed last.
    private let active = Mutex((memory: 0, unbounded: 0, changedAt: ContinuousClock.now))
    private let output = Atomic<Int>(0)

    /// - Parameters:
    ///   - limits: The limits of the whole run.
    ///   - folders: The folders that the run writes to, whose sizes are added up.
    /// - Throws: Why the run's control group can't be created.
    init(
        limits: Limits, controlGroups: ControlGroups?, groupName: String, folders: [FilePath]
    ) throws {
        self.limits = limits
        (self.controlGroups, self.groupName) = (controlGroups, groupName)
        group = try controlGroups?.run(
            named: groupName, GroupLimits(memory: limits.memory, processes: limits.processes))
        counters = group.map { GroupCounters($0) }
        meter = WorkspaceMeter(folders: folders.map(\.string), countsMemory: group == nil)
    }

    /// Starts measuring the memory and disk usage of the run's processes.
    ///
    /// - Parameter roots: Returns the processes that were started for the run; their descendants count, too.
    func watch(_ roots: @Sendable @escaping () -> [pid_t]) { meter.watch(roots) }

    /// Removes the run's control group. Call this when the run's last process has ended.
    func close() { controlGroups?.removeGroup(ofRun: groupName) }

    /// Creates the allowance of one attempt of a step.
    func allowance(of step: PlannedStep, label: String) throws -> StepAllowance {
        let limits = step.limits
        // Moving a process into its own group takes the kernel time, so only a step with its own limits gets one.
        let hasOwn = limits.memory != nil || limits.processes != nil || limits.cpuTime != nil
        let own =
            hasOwn
            ? try group?.child(
                label, GroupLimits(memory: limits.memory, processes: limits.processes, endsTogether: true)) : nil
        return StepAllowance(step: step.name, limits: limits, group: own, quota: self)
    }

    /// Adds `bytes` to the run's output and returns the sum.
    func count(output bytes: Int) -> Int { output.wrappingAdd(bytes, ordering: .relaxed).newValue }

    /// Returns the limit that the run has reached, if any.
    func breach(measuring: Bool) -> StopRequest? {
        func reached(_ what: String) -> StopRequest {
            StopRequest(.limitReached, reason: "\(what) limit reached by the run")
        }
        if let limit = limits.output, output.load(ordering: .relaxed) > limit {
            return reached("output: \(ByteCount(bytes: limit))")
        }
        if let limit = limits.cpuTime, let group, group.usage.cpuTime >= limit {
            return reached("CPU time: \(Figures.duration(limit))")
        }
        guard measuring else { return nil }
        let usage = meter.usage()
        if let limit = limits.workspace, usage.workspace > limit {
            return reached("workspace: \(WorkspaceMeter.reason(for: usage.workspace) ?? "\(ByteCount(bytes: limit))")")
        }
        if usage.terminals > HeldResources.mostTerminals {
            return reached("terminals: \(HeldResources.mostTerminals)")
        }
        // Steps that run together may use the sum of their limits. A measurement that was taken before a step started
        // or ended was of a different set of steps and does not count.
        let together: Int? = active.withLock { active in
            guard active.unbounded == 0, active.memory > 0, let at = usage.measuredAt, at > active.changedAt else {
                return nil
            }
            return active.memory
        }
        if let measured = usage.memory, let limit = [limits.memory, together].compactMap(\.self).min(), measured > limit
        {
            return reached("memory: \(ByteCount(bytes: limit))")
        }
        return nil
    }

    func workspaceBytes() -> Int { meter.usage().workspace }

    /// More memory than any machine has, in bytes, so that sums of limits can't overflow.
    private static let mostMemory = 1 << 50

    /// Records that an attempt with this memory limit starts or has ended.
    fileprivate func note(memory: Int?, begins: Bool) {
        active.withLock { active in
            active.changedAt = ContinuousClock.now
            let sign = begins ? 1 : -1
            if let memory { active.memory += sign * min(memory, Self.mostMemory) } else { active.unbounded += sign }
        }
    }
}

/// The limits of one attempt of a step, and its usage.
final class StepAllowance: Sendable {
    /// The attempt's own control group; nil if only the run's group counts.
    let group: ControlGroup?

    private let step: String
    private let limits: Limits
    private let quota: RunQuota
    /// The usage of the run's group before the attempt.
    private let usageBefore: GroupUsage?
    private let output = Atomic<Int>(0)

    init(step: String, limits: Limits, group: ControlGroup?, quota: RunQuota) {
        self.step = step
        self.limits = limits
        self.group = group
        self.quota = quota
        usageBefore = quota.counters?.usage
        quota.note(memory: limits.memory, begins: true)
    }

    func close() {
        quota.note(memory: limits.memory, begins: false)
        group?.remove()
    }

    /// Limits of each single process: the only ones on machines without control groups, and those that control groups
    /// lack.
    var processLimits: ProcessLimits {
        var own = ProcessLimits()
        own.cpuTime = limits.cpuTime.map { UInt64(max($0.rounded(.up), 1)) } ?? 0
        own.fileSize = limits.fileSize.map { UInt64($0) } ?? 0
        own.openFiles = limits.openFiles.map { UInt64($0) } ?? 0
        let all = limits.within(quota.limits)
        if quota.group == nil {
            own.data = all.memory.map { UInt64($0) } ?? 0
            own.processes = all.processes.map { UInt64($0) } ?? 0
        }
        return own
    }

    func count(output bytes: Int) {
        output.wrappingAdd(bytes, ordering: .relaxed)
        _ = quota.count(output: bytes)
    }

    /// Returns the limit that the step or its run has reached, if any.
    func breach() -> StopRequest? { breach(measuring: true) }

    /// - Parameter measuring: Whether to measure disk usage, too, which takes a while.
    private func breach(measuring: Bool) -> StopRequest? {
        let own: LimitBreach? =
            if let limit = limits.output, output.load(ordering: .relaxed) > limit {
                .output(limit, step)
            } else if let limit = limits.cpuTime, let group, group.usage.cpuTime >= limit {
                .cpuTime(limit, step)
            } else if measuring, let limit = limits.workspace, case let measured = quota.workspaceBytes(),
                measured > limit
            {
                .workspace(limit, measured: measured, step)
            } else {
                nil
            }
        if let own { return StopRequest(.limitReached, reason: own.description) }
        return quota.breach(measuring: measuring)
    }

    /// The usage of the attempt's own group, and that of the run's group since the attempt began (which all concurrent
    /// steps share), each with the limits that it can have reached.
    private var usages: [(limits: Limits, usage: GroupUsage)] {
        let own = group.map { group in
            let usage = group.usage
            return (limits: reachable(by: usage), usage: usage)
        }
        let run = usageBefore.flatMap { before in
            quota.group.map { (limits: quota.limits, usage: $0.usage.since(before)) }
        }
        return [own, run].compactMap(\.self)
    }

    /// The step's limits. Where the step has none, or its limit ended nothing, the run's limit stands in.
    private func reachable(by usage: GroupUsage) -> Limits {
        var reachable = limits
        if reachable.memory == nil || usage.memoryLimitHits == 0 { reachable.memory = quota.limits.memory }
        reachable.processes = reachable.processes ?? quota.limits.processes
        return reachable
    }

    /// A sentence about a limit that ended a process of a step which passed all the same; nil if there is none.
    var survivedBreach: String? {
        let own = group?.outOfMemoryKills ?? 0
        let run = (quota.counters?.outOfMemoryKills ?? 0) - (usageBefore?.outOfMemoryKills ?? 0)
        guard own > 0 || run > 0, let found = usages.first(where: { $0.usage.outOfMemoryKills > 0 }) else { return nil }
        return "\(LimitBreach.memory(found.limits.memory, step)); a process was killed, but the step passed"
    }

    /// A sentence about the limit because of which a command failed, or that it exceeded as it ended; nil if there is
    /// none.
    func cause(of end: ProcessEnd) -> String? {
        if let breach = breach(measuring: false) { return breach.reason }
        if end.exitCode == 0 { return nil }
        for found in usages {
            if let cause = LimitBreach.cause(of: end, limits: found.limits, usage: found.usage, step: step) {
                return cause.description
            }
        }
        return LimitBreach.cause(of: end, limits: limits, usage: nil, step: step)?.description
    }
}
