import Pipeline
import Synchronization
import SystemPackage

/// What a run and each of its steps may use, and what they have used so far.
final class RunQuota: Sendable {
    /// Of the whole run: the workflow's own within the box's.
    let limits: Limits

    private let setting: RunSetting
    private let group: ControlGroup?
    private let meter: WorkspaceMeter
    private let output = Atomic<Int>(0)

    init(setting: RunSetting, plan: Plan) throws {
        self.setting = setting
        limits = plan.limits.within(setting.runLimits)
        let name = setting.folder.lastComponent?.string ?? "run"
        group = try setting.controlGroups?.run(
            named: name, GroupLimits(memory: limits.memory, processes: limits.processes))
        group?.delegate()
        meter = WorkspaceMeter(
            folders: [setting.workspace.string]
                + (setting.enclosure == nil
                    ? [] : [setting.home.string, setting.temporary.string, setting.published.string]))
    }

    /// To be called when the run's last process has ended.
    func close() { group?.remove() }

    /// What one attempt of a step may use.
    func allowance(of step: PlannedStep, label: String) throws -> StepAllowance {
        let limits = step.limits.within(setting.stepLimits)
        let own = try group?.child(label, GroupLimits(memory: limits.memory, processes: limits.processes))
        return StepAllowance(step: step.name, limits: limits, group: own, quota: self)
    }

    /// Adds to the run's output and returns what it is now.
    func count(output bytes: Int) -> Int { output.wrappingAdd(bytes, ordering: .relaxed).newValue }

    /// The run's limit that is reached, if one is.
    func breach() -> StopRequest? {
        func reached(_ what: String) -> StopRequest {
            StopRequest(.limitReached, reason: "\(what) limit reached by the run")
        }
        if let limit = limits.output, output.load(ordering: .relaxed) > limit {
            return reached("output: \(ByteCount(bytes: limit))")
        }
        if let limit = limits.cpuTime, let group, group.usage.cpuTime >= limit {
            return reached("CPU time: \(Duration.seconds(limit).inWords)")
        }
        if let limit = limits.workspace {
            let measured = meter.bytes()
            if measured == WorkspaceMeter.tooDeep { return reached("workspace: \(FolderWalk.deepest) folders deep") }
            if measured > limit { return reached("workspace: \(ByteCount(bytes: limit))") }
        }
        return nil
    }

    func workspaceBytes() -> Int { meter.bytes() }

    /// What the run's own group says: its limit may be reached by one step's doing.
    var usage: GroupUsage? { group?.usage }
}

/// What one attempt of a step may use.
final class StepAllowance: Sendable {
    let group: ControlGroup?

    private let step: String
    private let limits: Limits
    private let quota: RunQuota
    private let runUsage: GroupUsage?
    private let output = Atomic<Int>(0)

    init(step: String, limits: Limits, group: ControlGroup?, quota: RunQuota) {
        self.step = step
        self.limits = limits
        self.group = group
        self.quota = quota
        runUsage = quota.limits.memory != nil || quota.limits.processes != nil ? quota.usage : nil
    }

    func close() { group?.remove() }

    /// What each process by itself is held to: the last resort of boxes without control groups, and what those lack.
    var processLimits: ProcessLimits {
        var own = ProcessLimits()
        own.cpuTime = limits.cpuTime.map { UInt64(max($0.rounded(.up), 1)) } ?? 0
        own.fileSize = limits.fileSize.map { UInt64($0) } ?? 0
        own.openFiles = limits.openFiles.map { UInt64($0) } ?? 0
        if group == nil {
            own.data = limits.memory.map { UInt64($0) } ?? 0
            own.processes = limits.processes.map { UInt64($0) } ?? 0
        }
        return own
    }

    func count(output bytes: Int) {
        output.wrappingAdd(bytes, ordering: .relaxed)
        _ = quota.count(output: bytes)
    }

    /// The limit that the step, or its run, has reached by now, if one.
    func breach() -> StopRequest? {
        let own: LimitBreach? =
            if let limit = limits.output, output.load(ordering: .relaxed) > limit {
                .output(limit, step)
            } else if let limit = limits.cpuTime, let group, group.usage.cpuTime >= limit {
                .cpuTime(limit, step)
            } else if let limit = limits.workspace, case let measured = quota.workspaceBytes(), measured > limit {
                .workspace(limit, measured: measured, step)
            } else {
                nil
            }
        if let own { return StopRequest(.limitReached, reason: own.description) }
        return quota.breach()
    }

    /// The limit that made a command fail, as a sentence; nil when it failed by itself.
    func cause(of end: ProcessEnd) -> String? {
        if let breach = breach() { return breach.reason }
        if let cause = LimitBreach.cause(of: end, limits: limits, usage: group?.usage, step: step) {
            return cause.description
        }
        // The run's own limit counts what all steps use together.
        guard let before = runUsage, let now = quota.usage else { return nil }
        var ofRun = GroupUsage()
        ofRun.outOfMemoryKills = now.outOfMemoryKills - before.outOfMemoryKills
        ofRun.refusedProcesses = now.refusedProcesses - before.refusedProcesses
        return LimitBreach.cause(of: end, limits: quota.limits, usage: ofRun, step: step)?.description
    }
}
