import DaemonLog
import Delivery
import Watching
import Preparing
import Concurrency
import Secrets
import Workspaces
import StateFiles
import Masking
import Results
import Store
import Engine
import Foundation
import Git
import Logging
import Pipeline
import Sandbox
import WorkflowPrograms

/// The phase that provides the surroundings of steps: a place, secrets, and the input of reviewers and fixers.
struct ProvidePhase: Sendable {
    let places: any PlaceProvider
    let secrets: SecretSource
    let reviews: ReviewMaterial
    let fixer: FixerWorkspace
    let tasks: TaskWorkspace
    let delivery: DeliveryService
    let log: Logger

    /// The surroundings of a run while its steps run; ``ProvidePhase/close(_:_:_:outcome:)`` takes them back.
    struct Provided: Sendable {
        let place: any ProvidedPlace
        let secrets: RunSecrets
        /// By step.
        let reviews: [String: ReviewInput]
        let fix: FixBeginning?
        let task: TaskBeginning?

        /// Where the steps are run.
        var runPlace: any RunPlace { task?.place ?? place.place }
    }

    /// - Parameters:
    ///   - wait: How the run waits for a machine.
    ///   - nextPlaces: How many places the runs that follow may soon need; nil if nothing is to be made ready.
    /// - Throws: ``EarlyVerdict`` for unmerged code without a sandbox, for needs that no machine meets, and if the run is
    ///   stopped while it waits; ``PlaceWaitEnd/shutdown``; errors of Git or the disk. Then nothing is left to give back.
    func provide(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, wait: PlaceWait = PlaceWait(),
        nextPlaces: (@Sendable () -> Int)? = nil
    ) async throws -> Provided {
        try await makeFolders(task, prepared)
        let secrets = try await secrets.secrets(for: prepared, of: task.run)
        try await check(secrets, for: prepared, task.request)
        let folder = task.place.folder
        let brief = try await tasks.brief(prepared, task.run, in: task.repository)
        let reviews = try await reviews.write(
            prepared, task.run, in: task.repository, folder: folder, brief: brief ?? "")
        let (workflow, program) = (task.request.workflow, prepared.program)
        var order = PlaceOrder(
            run: prepared.preparedRun(task), directories: task.place,
            isWhole: proofs.leaveAll(of: prepared.plan), rooms: reviews.compactMapValues(\.room),
            closureCommand: { program.closureCommand(workflow: workflow, step: $0, contextFile: $1) },
            nextPlaces: nextPlaces)
        order.wait = wait
        let place: any ProvidedPlace
        do { place = try await places.provide(order) } catch let error as PlaceUnavailable {
            throw EarlyVerdict(verdict: .infrastructure, reason: error.reason)
        } catch PlaceWaitEnd.stopped(let request) {
            throw EarlyVerdict(
                verdict: request.kind == .superseded ? .superseded : .cancelled, reason: request.reason)
        }
        do {
            if task.request.isOfWorker, let local = place.place as? LocalPlace {
                try await offThread { try local.giveWorkspace() }
            }
            return Provided(
                place: place, secrets: secrets, reviews: reviews,
                fix: try await fixer.begin(
                    prepared, task.run, in: task.repository, place.workspaceView, folder: folder),
                task: try await tasks.begin(
                    prepared, task.run, in: task.repository, place, secrets, folder: folder))
        } catch {
            await place.abandon()
            throw error
        }
    }

    /// Checks that a release can be signed and published, before the steps that make it take their time.
    private func check(
        _ secrets: RunSecrets, for prepared: RunPreparation, _ request: RunRequest
    ) async throws {
        var obstacles: [(why: String, steps: [String], isOfMachine: Bool)] = []
        func add(_ why: String, _ step: PlannedStep, isOfMachine: Bool = true) {
            if let place = obstacles.firstIndex(where: { $0.why == why }) {
                obstacles[place].steps.append(step.name)
            } else {
                obstacles.append((why, [step.name], isOfMachine))
            }
        }
        for step in prepared.plan.steps where !step.action.startsProcess {
            let missing = secrets.obstacles(to: step)
            for why in missing { add(why, step) }
            guard missing.isEmpty, prepared.trust == .merged else { continue }
            do {
                try await delivery.check(
                    step, of: request.repository, tag: prepared.version?.tag, at: prepared.tested.hex,
                    secrets: secrets.bytes(for: step))
            } catch let problem as DeliveryProblem {
                add(problem.description, step, isOfMachine: ![.invalid, .conflict].contains(problem.code))
            }
        }
        guard !obstacles.isEmpty else { return }
        let sentences = obstacles.map { obstacle in
            let names = obstacle.steps.map { "\"\($0)\"" }.joined(separator: ", ")
            return "\(obstacle.steps.count == 1 ? "step" : "steps") \(names) can't run: \(obstacle.why)"
        }
        throw EarlyVerdict(
            verdict: obstacles.contains(where: \.isOfMachine) ? .infrastructure : .failed,
            reason: sentences.joined(separator: "; "), tested: prepared.tested)
    }

    private func makeFolders(_ task: RunTask, _ prepared: RunPreparation) async throws {
        let (folder, isOpen) = (task.place.folder, task.place.isOpen)
        try await offThread {
            if !isOpen {
                try FileManager.default.createDirectory(
                    atPath: LocalPlace.shown(in: folder), withIntermediateDirectories: true)
            }
            // Only closure steps read the context.
            guard prepared.plan.steps.contains(where: { $0.action == .closure }) else { return }
            try SmallFile.write(
                WorkflowProgram.contextData(prepared.context), to: RunSandboxLease.contextFile(in: folder),
                isForAll: true)
        }
    }

    /// Takes what a fixer or another agent made, and ends the use of the place by steps.
    func close(
        _ provided: Provided, _ task: RunTask, _ prepared: RunPreparation, outcome: inout RunOutcome
    ) async -> (place: any FinishedPlace, fix: FixRecord?, task: TaskOutcome?) {
        let fix = await fixer.end(
            provided.fix, &outcome, task.run, in: task.repository, folder: task.place.folder)
        let made = await tasks.end(
            provided.task, &outcome, task.run, in: task.repository, folder: task.place.folder)
        let finished = await provided.place.close(
            hasPassed: outcome.verdict == .passed, isAllEnded: outcome.isAllEnded)
        if !finished.isAllEnded, finished.machine == nil {
            log.error(
                "run \(task.id): a process of it could not be ended; its user and caches stay in use until the daemon restarts",
                metadata: .code(.processSurvived, run: task.id)
            )
        }
        outcome.findings = provided.place.findings + provided.secrets.findings(for: prepared.plan) + outcome.findings
        return (finished, fix, made)
    }

    /// Ends what an earlier life of the daemon left of a run.
    func end(_ left: LeftRun) async { await places.end(left.trace) }

    /// Records that no step needed a workspace, so the run leaves no snapshot.
    func skip(_ task: RunTask, _ prepared: RunPreparation) async { await places.skip(prepared.preparedRun(task)) }
}

extension RunRequest {
    /// Whether an agent's files are taken as a commit.
    fileprivate var isOfWorker: Bool { fix?.isMaking == true || task?.part == .working }
}

/// The source of runs' secrets.
struct SecretSource: Sendable {
    let state: StateFolder

    /// The secrets that the run's steps name; none unless its code is merged, or the step is an agent's, whose line and
    /// whose secrets the target names.
    func secrets(for prepared: RunPreparation, of run: QueuedRun) async throws -> RunSecrets {
        guard prepared.trust == .merged || prepared.task != nil, !run.request.options.isForAgent else {
            return .withheld
        }
        guard prepared.plan.steps.contains(where: { !$0.secrets.isEmpty }) else { return .none }
        return try await offThread { [state] in
            SecretStores(state: state).resolve(prepared.plan, repository: run.request.repository)
        }
    }
}
