import Reports
public import Results
import Store
import Archive
import Engine
import Foundation
import Git
import Logging
import Pipeline
import SystemPackage

/// Takes one claimed run to its verdict: prepare, workspace, steps, report, archive.
struct RunExecutor: Sendable {
    let state: StateFolder
    let index: Store.Index
    let store: ArchiveStore
    let programs: ProgramCache
    let pool: SlotPool
    let board: LiveBoard
    let options: BoxOptions
    let stepInit: String
    let sandboxing: Sandboxing
    let log: Logger
    let desk: ApprovalDesk
    /// Nil where nothing is made ready for runs to come.
    let standbys: Standbys?
    /// Nil where each run clears away its folders before it ends.
    let leftovers: Leftovers?
    let bases: BaseStore
    let kept: KeptStore
    let events: EventStream
    /// Whether the box was told to cancel what runs, and to end.
    let isEnding: @Sendable () -> Bool
    /// Tells the dispatcher that a run has come to wait for nothing but a person.
    let wake: @Sendable () -> Void
    /// What must change before a run passes, for those who are to change it.
    let bundle: @Sendable (BundleRequest) async throws -> String

    /// Executes the run and records its verdict; whatever goes wrong becomes part of the report.
    func execute(
        _ run: QueuedRun, in repository: WatchedRepository, rules: TrustRules, stop: StopSignal
    ) async -> Report {
        let started = Date()
        let clock = ContinuousClock()
        let start = clock.now
        // What is kept can't be put into a sandbox that was made ready for an empty workspace.
        // Nor into one that was made ready without the objects of a clone.
        let isUsual = run.request.resumes == nil && run.request.source == nil
        let ready = isUsual ? await standbys?.place(for: repository.name) : nil
        let place = ready ?? RunPlace(run, in: state)
        let folder = place.folder
        board.begin(
            LiveRun(
                id: run.id, repository: run.request.repository, workflow: run.request.workflow,
                subject: run.request.subjectInWords, phase: "planning", startedAt: started, logs: "\(folder)/logs"))
        var report = Report(starting: run, at: started)
        var tests: [TestResult] = []
        var resultFiles: [String] = []
        var remains: RunRemains?
        var bisectsWhenRed = false
        var wanted: [RunRequest] = []
        do {
            try await TreeGate(options).check(run, in: repository)
            let prepared = try await RunPreparation.make(
                run, in: repository, programs: programs, rules: rules,
                tests: { await self.order.tests(of: run.request, $0, store: repository.store) }
            ) { [index] in try await index.approval(holdingFor: $0) }
            report.testedCommit = prepared.tested.hex
            report.testedTree = prepared.tree.hex
            report.definition = prepared.definition
            report.parameters = prepared.context.parameters
            report.trust = prepared.trust
            bisectsWhenRed = prepared.declaration.bisectsWhenRed == true
            report.findings += prepared.notes
            async let sources = ChangeSources.outcome(of: prepared, in: repository)
            let (outcome, review, left) = try await runSteps(
                prepared, of: run, in: repository, place, stop)
            remains = left
            report.base = left?.base
            report.cold = left?.cold
            report.resumed = left?.resumed
            report.fix = left?.fix ?? report.fix
            report.findings += review.map { [$0] } ?? []
            report.approvals = await approvals(prepared, run.id)
            report.verdict = outcome.verdict
            report.reason = outcome.reason
            report.steps = outcome.steps
            report.artifacts = outcome.artifacts
            report.findings += outcome.findings + QuarantineList(prepared.declaration.quarantine).findings
            tests = outcome.tests
            resultFiles = outcome.resultFiles
            (report, tests, wanted) = await evaluate(
                report, tests,
                FinishedRun(run: run, prepared: prepared, repository: repository, sources: await sources))
            if await desk.leave(run.id), stop.request == nil, report.verdict == .cancelled {
                switch await park(run, prepared, outcome.steps) {
                case .putBack(let reason):
                    await settle(remains, run, store: repository.store)
                    await release(place)
                    return await withoutRecord(report, reason, run, repository, place)
                case .ends(let reason): report.reason = reason
                }
            }
        } catch let early as EarlyVerdict {
            report.trust = early.trust ?? report.trust
            if let question = early.question, await hold(run, question, early.trust ?? .change, stop) {
                await release(place)
                return await withoutRecord(report, question.why, run, repository, place)
            }
            (report.verdict, report.reason) = (early.verdict, early.reason)
            if early.question != nil {
                // Overtaken while it was prepared: there is nothing to ask any more.
                let isSuperseded = stop.request.map { $0.kind == .superseded } ?? true
                report.verdict = isSuperseded ? .superseded : .cancelled
                report.reason = stop.request?.reason ?? "A newer run took its place."
            }
            report.conflicts = early.conflicts
            report.findings += early.findings
            report.testedCommit = early.tested?.hex
        } catch {
            report.verdict = .infrastructure
            report.reason =
                BoxTools.isDiskFull(error)
                ? "disk full: the build box could not run it: \(error)" : "the build box could not run it: \(error)"
        }
        settle(run)
        // The clock on the wall may have been set meanwhile; a run lasts as long as it lasts.
        report.endedAt = started.addingTimeInterval((clock.now - start).inSeconds)
        // A verdict before the first step leaves no folder.
        let hasLogs = FileManager.default.fileExists(atPath: "\(folder)/logs")
        let files = RunFiles(
            logs: hasLogs ? "\(folder)/logs" : nil, results: "\(folder)/results", resultFiles: resultFiles,
            artifacts: "\(folder)/artifacts")
        let isRecorded = await recorder.record(report, run.request, tests: tests, files: files)
        // What has no verdict leaves nothing that others begin from.
        if !isRecorded { remains?.hasPassed = false }
        if isRecorded {
            events.publish(
                .recorded(
                    RecordedRun(
                        report: report, request: run.request, tests: tests, repository: repository,
                        bisectsWhenRed: bisectsWhenRed, wasPreempted: stop.request?.kind == .preempted,
                        wantedRuns: wanted)))
        }
        board.end(run.id)
        await keep(remains, run, report, folder: folder)
        await settle(remains, run, store: repository.store)
        await release(place)
        await letGo(run, repository)
        await cleanUpLater(run, place)
        return report
    }

    private func runSteps(
        _ prepared: RunPreparation, of run: QueuedRun, in repository: WatchedRepository, _ place: RunPlace,
        _ stop: StopSignal
    ) async throws -> (RunOutcome, Finding?, RunRemains?) {
        let (folder, isOpen) = (place.folder, place.isOpen)
        // Beside the preparation of the first step.
        async let isAccepted: Void = flushLooks(run)
        board.update(run.id) { live in
            live.phase = "preparing the workspace"
            live.steps = prepared.plan.steps.map {
                LiveRun.Step(
                    record: StepRecord(
                        name: $0.name, command: $0.commandLine, needs: $0.needs, allowsFailure: $0.allowsFailure))
            }
        }
        let proofs = await proofSearch.proofs(for: prepared, of: run, in: repository)
        if run.request.resumes == nil, let settled = proofs.settled(prepared.plan) {
            _ = await leaving(prepared, run, isWhole: false)
            board.update(run.id) { live in live.steps = settled.steps.map { LiveRun.Step(record: $0) } }
            return (settled, await review(prepared, in: repository, stop), nil)
        }
        let contextFile = RunEnclosure.contextFile(in: folder)
        try await offThread {
            if !isOpen {
                try FileManager.default.createDirectory(
                    atPath: RunSetting.shown(in: folder), withIntermediateDirectories: true)
            }
            // Nobody else reads it.
            guard prepared.plan.steps.contains(where: { $0.action == .closure }) else { return }
            try SmallFile.write(WorkflowProgram.contextData(prepared.context), to: contextFile, isForAll: true)
        }
        let secrets = try await secrets(for: prepared, of: run)
        let workflow = run.request.workflow
        let enclosed = try RunEnclosure.make(
            prepared, of: run, isMerged: prepared.trust == .merged, in: repository, state: state, options: options,
            sandboxing: sandboxing, place: place)
        let (resumption, notResumed) = await resumption(prepared, run)
        let beginning =
            enclosed.enclosure == nil || resumption != nil
            ? .nothing : await beginning(prepared, run, repository, isWhole: proofs.leaveAll(of: prepared.plan))
        let space: Workspace
        let reviews: [String: ReviewInput]
        let fixBeginning: FixBeginning?
        do {
            if let resumption {
                space = try await resume(resumption.kept, at: place, user: enclosed.enclosure?.user)
            } else {
                space = try await Workspace.make(
                    at: place.workspace, commit: prepared.tested, store: repository.store,
                    base: beginning.use?.base.workspaceBase, user: enclosed.enclosure?.user,
                    keepsLayers: beginning.leaves != nil, layering: sandboxing.layering, isOpen: isOpen,
                    opened: enclosed.holder)
            }
            do {
                reviews = try await self.reviews(prepared, run, in: repository, folder: folder)
                fixBeginning = try await beginFix(prepared, run, in: repository, space, folder: folder)
            } catch {
                await space.close()
                throw error
            }
        } catch {
            enclosed.close(sandboxing)
            await bases.giveBack(beginning.use)
            await kept.giveBack(resumption?.kept)
            throw error
        }
        log.debug("run \(run.id): \(space.account)")
        if let problem = space.problem {
            log.warning(
                "run \(run.id) starts from a checkout, because no warm workspace could be used: \(problem)")
            // A damaged one would be tried by all that follow.
            if let base = beginning.use?.base {
                await bases.remove { $0.folder == base.folder }
                // Nor does this run leave one.
                await bases.noteLoss(run.id)
            }
        }
        board.update(run.id) { $0.phase = "running" }
        let seenContext =
            enclosed.enclosure != nil && Sandbox.hasMounts ? Sandbox.Place.context : contextFile
        var setting = RunSetting(
            workspace: FilePath(space.path), folder: FilePath(folder),
            environment: environment(prepared, run),
            closureCommand: { [program = prepared.program] step in
                program.closureCommand(workflow: workflow, step: step, contextFile: seenContext)
            },
            stepInit: FilePath(stepInit), grace: options.grace,
            logLimits: LogLimits(head: options.logBytes, tail: options.logBytes), secrets: secrets,
            approval: { step, stop in await decision(on: step, of: run, prepared, stop) })
        setting.workspaceMount = space.mount
        setting.enclosure = enclosed.enclosure
        // The sandbox that waits shows the folder that was there before layers were tried; a checkout after them is another.
        setting.standby = space.problem == nil ? enclosed.standby : nil
        setting.stepLimits = options.stepLimits
        setting.runLimits = options.runLimits
        setting.controlGroups = sandboxing.controlGroups
        setting.shutdown = options.shutdown
        setting.journal = recorder.journal(of: run)
        setting.quarantine = QuarantineList(prepared.declaration.quarantine).active
        setting.onlyTests = prepared.plan.narrowed(by: run.request)
        setting.knownFlaky = await index.knownFlaky(
            for: prepared.plan, of: run.request.repository)
        (setting.keys, setting.proved, setting.withheld) = (proofs.keys, proofs.proved, proofs.keyed.withheld)
        setting.tracked = proofs.keyed.tracked
        if let resumption {
            // What passes here may lean on what a failed attempt left: it proves nothing.
            (setting.carried, setting.keys, setting.proved) = (resumption.carried, [:], [:])
        }
        setting.reviews = reviews
        setting.order = await order.steps(of: prepared, run.request)
        let mayPark = prepared.plan.steps.contains { $0.action == .approval }
        if run.request.upkeep == nil, let standbys, let wanted = enclosed.next(after: prepared, in: repository, space) {
            let (name, most) = (run.request.repository, options.slots)
            setting.launched = { [board] in standbys.prepare(wanted, count: min(board.count(of: name), most)) }
        }
        // Who comes next could only read the caches that this one writes until its sandboxes have ended.
        if enclosed.written.isEmpty { setting.finished = { settle(run) } }
        let runner = Runner(setting: setting, pool: pool) { [board, events, wake] event in
            board.take(event, of: run.id)
            events.publish(.step(run.id, event))
            if case .stepOutput = event { return }
            if mayPark, board.isParked(run.id) { wake() }
        }
        // Beside the steps, so that a long compilation costs the run nothing while its steps take longer.
        async let review = review(prepared, in: repository, stop)
        await isAccepted
        var outcome = await runner.run(prepared.plan, stop: stop)
        let fix = await endFix(fixBeginning, &outcome, run, in: repository, space, folder: folder)
        await space.close()
        var remains = RunRemains(
            workspace: space, beginning: beginning, prepared: prepared, hasPassed: outcome.verdict == .passed,
            isAllEnded: outcome.isAllEnded, user: enclosed.enclosure?.user,
            objects: repository.objectFolders, resumed: resumption?.kept.run)
        remains.fix = fix
        await kept.giveBack(resumption?.kept)
        if remains.isAllEnded { remains.isAllEnded = enclosed.close(sandboxing) }
        if !remains.isAllEnded {
            log.error(
                "run \(run.id): a process of it could not be ended; its user and caches stay in use until the daemon restarts"
            )
        }
        outcome.findings = (notResumed.map { [$0] } ?? []) + secrets.findings(for: prepared.plan) + outcome.findings
        if resumption == nil { await proofSearch.judge(&outcome, by: proofs, prepared, run, in: repository) }
        return (outcome, await review, remains)
    }

    /// Has on disk that the run was accepted. Where it can't be, it is no worse than a push that was not seen yet.
    private func flushLooks(_ run: QueuedRun) async {
        do { try await index.flushLooks() } catch {
            log.warning("run \(run.id): it may not be recorded on disk yet: \(error)")
        }
    }

    /// Lets another run begin: what is left of this one is to be ended, written down and cleared away.
    private func settle(_ run: QueuedRun) {
        if run.request.upkeep == nil, board.settle(run.id) { wake() }
    }

    /// What every step of the run sees. Names that a change chose come as values of variables only.
    func environment(_ prepared: RunPreparation, _ run: QueuedRun) -> [String: String] {
        var environment = RunSetting.ownEnvironment
        environment["PIPECTL"] = "true"
        environment["PIPECTL_RUN"] = String(run.id)
        environment["PIPECTL_RUN_ATTEMPT"] = String(run.attempt)
        environment.merge(RunVariables.values(prepared, run.request)) { _, own in own }
        for (name, value) in prepared.context.parameters { environment[StepVariable.parameter(name)] = value }
        // A NUL would end the value early, in the kernel, not here.
        return environment.filter { !$0.value.utf8.contains(0) }
    }

    private var order: RunOrder { RunOrder(index: index, log: log) }

    private var recorder: RunRecorder {
        RunRecorder(state: state, index: index, store: store, options: options, log: log, isEnding: isEnding)
    }

    private func evaluate(
        _ report: Report, _ tests: [TestResult], _ run: FinishedRun
    ) async -> (Report, [TestResult], [RunRequest]) {
        var draft = ReportDraft(report: report, tests: tests)
        let evaluation = Evaluation(index: index, reports: store, bases: bases, log: log)
        await evaluation.evaluate(&draft, of: run)
        return (draft.report, draft.tests, draft.wantedRuns)
    }
}

extension Report {
    /// The report of a run that begins: everything that is known before it is prepared.
    init(starting run: QueuedRun, at start: Date) {
        let request = run.request
        self.init(
            id: run.id, repository: request.repository, workflow: request.workflow, event: request.event,
            ref: request.ref, branch: request.branch, head: request.head, change: request.change,
            mergedChanges: request.mergedChanges, parameters: request.parameters, verdict: .infrastructure,
            reason: "not finished", createdAt: run.createdAt, startedAt: start, endedAt: start, attempt: run.attempt,
            rerunOf: request.rerunOf, reproduce: request.reproduction, box: .current)
        if let origin = request.origin, let number = request.repetition {
            repetition = Repetition(origin: origin, number: number)
        }
        fix = request.fix.map(FixRecord.init)
        if run.attempt > 1 {
            findings.append(
                Finding(
                    rule: "interrupted", severity: .note,
                    message:
                        "the daemon ended during attempt \(run.attempt - 1); this is attempt \(run.attempt), in a fresh workspace",
                    file: nil, line: nil, column: nil, suggestion: nil))
        }
    }
}

extension Report.Box {
    /// The version of pipectl.
    public static let version = "0.1.0"

    /// This machine.
    static var current: Report.Box {
        #if os(macOS)
            let system = "macOS"
        #else
            let system = "Linux"
        #endif
        #if arch(arm64)
            let processor = "arm64"
        #else
            let processor = "x86_64"
        #endif
        return Report.Box(
            host: ProcessInfo.processInfo.hostName, system: "\(system) \(processor)", pipectlVersion: version)
    }
}

extension RunRequest {
    /// What is tested, as a person would say it.
    public var subjectInWords: String {
        if let fix, let change { return "\(fix.inWords), change \(change.name) into \(change.target)" }
        if let change { return "change \(change.name) into \(change.target)" }
        switch upkeep {
        case .refresh: return "warm-up of \(branch ?? ref)"
        case .cleanRoom: return "clean build of \(branch ?? ref)"
        case .bisect: return "bisection of \(branch ?? ref) at \(head.prefix(10))"
        case .learn: return "retry of failing tests on \(branch ?? ref)"
        case nil: break
        }
        if ref.isEmpty { return "working tree" }
        if let branch { return branch }
        if ref.hasPrefix("refs/tags/") { return "tag \(ref.dropFirst("refs/tags/".count))" }
        return ref
    }

    /// The command that repeats the run in a clone.
    var reproduction: String {
        if let fix { return fix.isMaking ? "pipectl fix \(fix.of)" : "pipectl fix \(fix.of) --patch | git am" }
        var words = ["pipectl", "run", workflow]
        if let change {
            words += ["--change", change.name]
        } else if !ref.isEmpty {
            words += ["--ref", String(head.prefix(12))]
        }
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) { words += ["--param", "\(name)=\(value)"] }
        for step in onlySteps ?? [] { words += ["--step", step] }
        for test in onlyTests ?? [] { words += ["--tests", test.typed] }
        return words.map(\.shellQuoted).joined(separator: " ")
    }
}
