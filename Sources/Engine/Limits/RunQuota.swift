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

/// What a run and each of its steps may use, and what they have used so far.
final class RunQuota: Sendable {
    /// Of the whole run: the workflow's own within the box's.
    let limits: Limits

    /// What each step may use, unless it declares less.
    private let stepLimits: Limits
    private let controlGroups: ControlGroups?
    /// What the run's control group is called.
    private let groupName: String
    /// Of all processes of the run.
    let group: ControlGroup?
    /// Of ``group``.
    let counters: GroupCounters?
    private let meter: WorkspaceMeter
    /// Of the attempts that go on: the sum of their limits of memory, how many have none, and when that changed last.
    private let active = Mutex((memory: 0, unbounded: 0, changedAt: ContinuousClock.now))
    private let output = Atomic<Int>(0)

    /// - Parameters:
    ///   - limits: What the whole run may use.
    ///   - folders: What the run writes to, whose sizes count together.
    /// - Throws: Why the run's control group can't be made.
    init(
        limits: Limits, stepLimits: Limits, controlGroups: ControlGroups?, groupName: String, folders: [FilePath]
    ) throws {
        (self.limits, self.stepLimits) = (limits, stepLimits)
        (self.controlGroups, self.groupName) = (controlGroups, groupName)
        group = try controlGroups?.run(
            named: groupName, GroupLimits(memory: limits.memory, processes: limits.processes))
        counters = group.map { GroupCounters($0) }
        meter = WorkspaceMeter(folders: folders.map(\.string), countsMemory: group == nil)
    }

    /// Has what the run's processes hold counted.
    ///
    /// - Parameter roots: The processes that the box started for it.
    func watch(_ roots: @Sendable @escaping () -> [pid_t]) { meter.watch(roots) }

    /// To be called when the run's last process has ended.
    func close() { controlGroups?.removeGroup(ofRun: groupName) }

    /// What one attempt of a step may use.
    func allowance(of step: PlannedStep, label: String) throws -> StepAllowance {
        let limits = step.limits.within(stepLimits)
        // Moving a process into a group of its own takes the kernel up to 60 ms: only steps with limits of their own pay.
        let hasOwn = limits.memory != nil || limits.processes != nil || limits.cpuTime != nil
        let own =
            hasOwn
            ? try group?.child(
                label, GroupLimits(memory: limits.memory, processes: limits.processes, endsTogether: true)) : nil
        return StepAllowance(step: step.name, limits: limits, group: own, quota: self)
    }

    /// Adds to the run's output and returns what it is now.
    func count(output bytes: Int) -> Int { output.wrappingAdd(bytes, ordering: .relaxed).newValue }

    /// The run's limit that is reached, if one is.
    func breach(measuring: Bool) -> StopRequest? {
        func reached(_ what: String) -> StopRequest {
            StopRequest(.limitReached, reason: "\(what) limit reached by the run")
        }
        if let limit = limits.output, output.load(ordering: .relaxed) > limit {
            return reached("output: \(ByteCount(bytes: limit))")
        }
        if let limit = limits.cpuTime, let group, group.usage.cpuTime >= limit {
            return reached("CPU time: \(Duration.seconds(limit).inWords)")
        }
        guard measuring else { return nil }
        let usage = meter.usage()
        if let limit = limits.workspace, usage.workspace > limit {
            return reached("workspace: \(WorkspaceMeter.reason(for: usage.workspace) ?? "\(ByteCount(bytes: limit))")")
        }
        if usage.terminals > HeldResources.mostTerminals {
            return reached("terminals: \(HeldResources.mostTerminals)")
        }
        // What goes on together may use what its steps may, each by itself, together.
        // A measurement from before a step began or ended is one of other steps.
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

    /// No machine has more, in bytes: sums of limits stay far from the end of the number.
    private static let mostMemory = 1 << 50

    /// Notes that an attempt with this limit begins, or has ended.
    fileprivate func note(memory: Int?, begins: Bool) {
        active.withLock { active in
            active.changedAt = ContinuousClock.now
            let sign = begins ? 1 : -1
            if let memory { active.memory += sign * min(memory, Self.mostMemory) } else { active.unbounded += sign }
        }
    }
}

/// What one attempt of a step may use.
final class StepAllowance: Sendable {
    /// Its own, or nil when only the run's counts.
    let group: ControlGroup?

    private let step: String
    private let limits: Limits
    private let quota: RunQuota
    /// What of the run's group was counted before.
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

    /// What each process by itself is held to: the last resort of boxes without control groups, and what those lack.
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

    /// The limit that the step, or its run, has reached by now, if one.
    func breach() -> StopRequest? { breach(measuring: true) }

    /// - Parameter measuring: Whether the disk is looked at too, which takes a while.
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

    /// What its own group came to, and what the run's, whose limits count what all steps use together, since it began;
    /// each with the limits that it can have reached.
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

    /// The step's limits, with the run's in place of those that it has not, or that ended nothing of it.
    private func reachable(by usage: GroupUsage) -> Limits {
        var reachable = limits
        if reachable.memory == nil || usage.memoryLimitHits == 0 { reachable.memory = quota.limits.memory }
        reachable.processes = reachable.processes ?? quota.limits.processes
        return reachable
    }

    /// A limit that ended something of a step which passed all the same, as a sentence.
    var survivedBreach: String? {
        let own = group?.outOfMemoryKills ?? 0
        let run = (quota.counters?.outOfMemoryKills ?? 0) - (usageBefore?.outOfMemoryKills ?? 0)
        guard own > 0 || run > 0, let found = usages.first(where: { $0.usage.outOfMemoryKills > 0 }) else { return nil }
        return "\(LimitBreach.memory(found.limits.memory, step)); a process was killed, but the step passed"
    }

    /// The limit that a command failed by, or went beyond when it had all but ended, as a sentence.
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
