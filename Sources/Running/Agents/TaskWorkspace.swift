import AgentWork
import Concurrency
import Engine
import Evaluating
import Foundation
import Git
import Masking
import Pipeline
import Preparing
import Results
import Store
import Tasks
import TerminalText
import TestIntegrity
import Watching
import WorkflowPrograms
import Workspaces

/// The surroundings of an agent that works on a task, before it starts.
struct TaskBeginning: Sendable {
    var role: TaskRole
    var record: TaskRecord
    /// The newest plan.
    var plan: TaskPlan?
    var desk: AgentDesk
    var place: AgentPlace
    var masker: Masker?
    /// What is compared with what the agent leaves; nil if nothing is taken.
    var work: (view: String, scan: WorkspaceScan, harvest: WorkHarvest)?
}

/// A run in which an agent makes a plan, edits files or reviews a try: what the agent is given, and what is taken of
/// what it leaves.
struct TaskWorkspace: Sendable {
    let index: Store.Index
    let materials: TaskMaterials
    /// Reads the Swift files that an agent changed.
    let reader: any SwiftSourceReader
    /// Starts runs for agents; nil where an agent may hold the only slot.
    var trials: TaskTrials?

    /// What the reviewer of a try is told besides the prompt of every review; nil for all other runs.
    func brief(
        _ prepared: RunPreparation, _ run: QueuedRun, in repository: WatchedRepository
    ) async throws -> String? {
        guard let role = run.request.task, role.part == .reviewing, let record = prepared.task else { return nil }
        let events = try await materials.history.events(record.id)
        let material = try await materials.material(of: record, events, for: run.request, prepared, in: repository)
        guard let made = material.tries.last(where: { $0.attempt == role.attempt })?.made else { return nil }
        return TaskPrompt.reviewing(material, made: made)
    }

    /// Lays the desk, and records the state of the workspace; nil for runs without an agent of a task.
    ///
    /// - Throws: ``EarlyVerdict`` if the declaration names a host that can't be one; errors of Git or the disk.
    func begin(
        _ prepared: RunPreparation, _ run: QueuedRun, in repository: WatchedRepository, _ place: any ProvidedPlace,
        _ secrets: RunSecrets, folder: String
    ) async throws -> TaskBeginning? {
        guard let role = run.request.task, let record = prepared.task else { return nil }
        guard let local = place.place as? LocalPlace else { throw FixerElsewhere() }
        let events = try await materials.history.events(record.id)
        var setting = AgentDesk.Setting()
        setting.hosts = try Self.hosts(record)
        setting.variables = [
            "PIPECTL_TASK": String(record.id), "PIPECTL_TASK_PART": role.part.rawValue,
            "PIPECTL_TASK_ATTEMPT": String(role.attempt),
        ]
        let material = try await materials.material(
            of: record, events, for: run.request, prepared, in: repository,
            paths: (AgentDesk.filesFolder(at: local), AgentDesk.remarksFile(at: local)))
        let minutes = Int((record.rules.timeout / 60).rounded(.up))
        switch role.part {
        case .planning: setting.prompt = TaskPrompt.planning(material, minutes: minutes)
        case .working: setting.prompt = TaskPrompt.working(material, minutes: minutes)
        case .reviewing, .reproducing, .comparing, .checking: break
        }
        if role.part == .working {
            setting.remarks = { [history = materials.history] after in
                await Self.remarks(on: record.id, after: after, history)
            }
            setting.lastRemark = events.last?.number ?? 0
        }
        if role.part != .reviewing { setting.files = await files(of: record) }
        var work: (view: String, scan: WorkspaceScan, harvest: WorkHarvest)?
        if role.part == .working {
            guard let view = place.workspaceView else { throw FixerElsewhere() }
            work = try await self.work(prepared, run, in: repository, view, secrets, folder: folder)
        }
        let trial = work.flatMap { work in
            trials.map {
                TaskTrial(
                    $0, index: index, record: record, request: run.request, repository: repository, view: work.view,
                    scan: work.scan, harvest: work.harvest)
            }
        }
        setting.tools = TaskTools(record: record, index: index, materials: materials, trial: trial).server
        let desk = try await offThread { [setting] in try AgentDesk(setting, at: local) }
        return TaskBeginning(
            role: role, record: record, plan: material.plan, desk: desk,
            place: AgentPlace(local, desk: desk, isReadOnly: role.part == .planning), masker: secrets.masker,
            work: work)
    }

    private func work(
        _ prepared: RunPreparation, _ run: QueuedRun, in repository: WatchedRepository, _ view: String,
        _ secrets: RunSecrets, folder: String
    ) async throws -> (view: String, scan: WorkspaceScan, harvest: WorkHarvest)? {
        guard let head = OID(hex: run.request.head), let target = OID(hex: prepared.definition.commit) else {
            return nil
        }
        let guarded = Set((prepared.program.description.rules ?? []).compactMap(\.source))
        let scratch = try await WorkCommit.scratch(in: folder)
        return try await withRepository(at: repository.store) { store in
            let harvest = WorkHarvest(
                tested: prepared.tested, head: head, before: try store.mergeBase(target, head) ?? head,
                rules: prepared.declaration.integrity ?? [], scratch: scratch, words: .task(guarding: guarded),
                masker: secrets.masker)
            return (view, try harvest.scan(view, store: store), harvest)
        }
    }

    private static func hosts(_ record: TaskRecord) throws -> [AllowedHost] {
        do { return try record.rules.hosts.map { try AllowedHost($0) } } catch {
            throw EarlyVerdict(
                verdict: .definitionError, reason: "the tasks of the target name a host that can't be one: \(error)")
        }
    }

    private func files(of record: TaskRecord) async -> [(name: String, bytes: [UInt8])] {
        var files: [(name: String, bytes: [UInt8])] = []
        for file in record.files {
            // The name was chosen by whoever handed the file over.
            guard file.name.utf8.count <= 200, TerminalText.name(file.name, limit: 200) == file.name,
                !file.name.contains("/"), ![".", "..", ""].contains(file.name),
                let bytes = await materials.history.content(file)
            else { continue }
            files.append((file.name, bytes))
        }
        return files
    }

    private static func remarks(on task: TaskID, after: Int, _ history: TaskRecords) async -> [AgentRemark] {
        let events = (try? await history.events(task)) ?? []
        return events.compactMap { event in
            guard event.number > after, case .remark(let text) = event.what else { return nil }
            return AgentRemark(number: event.number, at: event.at, by: event.by, text: text)
        }
    }

    /// Reads the agent's plan, or makes a commit of its work; the run passes only if there is one.
    ///
    /// Call it before the workspace is closed, when no process of the run is alive.
    func end(
        _ beginning: TaskBeginning?, _ outcome: inout RunOutcome, _ run: QueuedRun, in repository: WatchedRepository,
        folder: String
    ) async -> TaskOutcome? {
        guard let beginning else { return nil }
        var result = TaskOutcome(role: beginning.role)
        let left = beginning.desk.left
        let output = left.answer.map { AgentOutput($0) }
        result.spent = Self.spending(outcome, left.usage.flatMap { AgentOutput.usage(of: $0) } ?? output?.spent)
        outcome.findings += beginning.desk.refusals.map { Self.finding($0, beginning.masker) }
        if outcome.verdict == .passed, output?.isFailure == true {
            (outcome.verdict, outcome.reason) = (.failed, "the agent says that it failed")
        }
        switch (beginning.role.part, outcome.verdict) {
        case (.planning, .passed): takePlan(left, beginning, &outcome, &result)
        case (.working, .passed): await takeWork(left, beginning, &outcome, &result, run, in: repository, folder)
        default: break
        }
        if result.plan == nil, result.made == nil { result.reason = outcome.reason }
        if beginning.role.part == .working {
            let unread = await Self.remarks(
                on: beginning.record.id, after: beginning.desk.lastRemark, materials.history)
            result.unread = unread.isEmpty ? nil : unread.count
        }
        return result
    }

    private func takePlan(
        _ left: AgentDesk.Yield, _ beginning: TaskBeginning, _ outcome: inout RunOutcome, _ result: inout TaskOutcome
    ) {
        func fail(_ reason: String) { (outcome.verdict, outcome.reason) = (.failed, reason) }
        guard let answer = left.answer else { return fail("the agent's answer is too long") }
        do throws(PlanProblem) {
            let words = Self.words(answer)
            let text = beginning.masker?.masked(words) ?? words
            let plan = try PlanAnswer.read(text.utf8, version: beginning.role.attempt)
            result.plan = plan
            outcome.reason = "plan \(plan.version): \(TerminalText.name(plan.summary, limit: 300))"
        } catch {
            fail("the agent's answer is no plan: \(error)")
        }
    }

    private func takeWork(
        _ left: AgentDesk.Yield, _ beginning: TaskBeginning, _ outcome: inout RunOutcome, _ result: inout TaskOutcome,
        _ run: QueuedRun, in repository: WatchedRepository, _ folder: String
    ) async {
        func fail(_ reason: String) { (outcome.verdict, outcome.reason) = (.failed, reason) }
        guard let (view, scan, harvest) = beginning.work else { return fail("the agent had no workspace") }
        guard outcome.isAllEnded else {
            return fail("the try was refused: a process of the agent could not be ended")
        }
        let (role, record) = (beginning.role, beginning.record)
        let ref = TaskCommit.ref(of: role.task, attempt: role.attempt)
        do {
            let (taken, made) = try await WorkCommit(reader: reader, harvest: harvest).make(
                since: scan, from: view, by: TaskCommit.name, message: TaskCommit.message(record, role), ref: ref,
                in: repository)
            guard let made else { return fail(taken.reason) }
            guard taken.breaches.isEmpty else {
                outcome.findings += taken.breaches.prefix(50).map { Finding($0, run: run.id) }
                return fail(harvest.words.refusal(taken.breaches))
            }
            outcome.artifacts.append(
                try await WorkCommit.patch(
                    from: harvest.before, to: made.commit, named: "work", in: repository, folder: folder))
            let files = made.files.map(\.path)
            result.made = TaskTry(
                attempt: role.attempt, agent: role.agent ?? "", run: run.id, commit: made.commit.hex, ref: ref,
                files: files, additions: made.additions, deletions: made.deletions,
                unplanned: PlanCoverage.unplanned(files, plan: beginning.plan),
                summary: left.answer.flatMap { Self.summary(Self.words($0), beginning.masker) })
            outcome.reason = harvest.words.account(made)
        } catch let problem as WorkspaceScan.Problem {
            fail("the try was refused: \(problem.description)")
        } catch {
            outcome.verdict = .infrastructure
            outcome.reason = "the agent's changes could not be committed: \(error)"
        }
    }

    /// The last words of an agent, or all that it printed.
    private static func words(_ answer: [UInt8]) -> String {
        AgentOutput(answer).words ?? String(decoding: answer, as: UTF8.self)
    }

    /// The longest summary, in characters.
    private static let summaryLength = 4_000

    private static func summary(_ text: String, _ masker: Masker?) -> String? {
        let masked = masker?.masked(text) ?? text
        let clean = TerminalText.clean(masked.utf8, colours: false).trimmingCharacters(in: .whitespacesAndNewlines)
        return clean.isEmpty ? nil : String(clean.suffix(summaryLength))
    }

    /// - Parameter told: What the agent says that it used.
    private static func spending(_ outcome: RunOutcome, _ told: TaskSpending?) -> TaskSpending {
        var spent = told ?? TaskSpending()
        spent.seconds = outcome.steps.flatMap(\.attempts).reduce(0) { sum, attempt in
            sum + max(0, attempt.endedAt?.timeIntervalSince(attempt.startedAt) ?? 0)
        }
        return spent
    }

    /// The name is the agent's, and may be made of a secret.
    static func finding(_ refusal: HostRefusal, _ masker: Masker?) -> Finding {
        let message = "the agent was not let through to \(refusal.host): \(refusal.reason)"
        return Finding(
            rule: "host-refused", severity: .note, message: masker?.masked(message) ?? message, file: nil, line: nil,
            column: nil, suggestion: "if it needs that host, name it in the tasks of workflows/: .reaches(\"…\")")
    }
}

extension WorkWords {
    /// - Parameter files: Files that state rules which are checked.
    static func task(guarding files: Set<String>) -> WorkWords {
        let folded = Set(files.map { $0.lowercased() })
        return WorkWords(work: "try", worker: "agent") { path in
            SettingsPath.isObeyed(path) || folded.contains(path.lowercased())
                ? "a try may not change the rules and settings of agents and forges" : nil
        }
    }
}
