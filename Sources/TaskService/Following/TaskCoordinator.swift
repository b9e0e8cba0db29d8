import Control
import DaemonLog
import Foundation
package import Logging
import Preparing
import Results
package import Running
import Store
import Tasks
import TerminalText

/// Decides what follows for each task that is due. It starts from the recorded facts each time, so it may be repeated,
/// and a crash loses nothing.
package actor TaskCoordinator {
    private let facts: TaskFacts
    private let runs: TaskRuns
    private let changes: TaskChanges
    private let health: Health
    private let log: Logger
    /// Whether work is due; a running call of ``settle()`` does it.
    private var isDue = false
    private var isSettling = false
    /// The tasks whose branches this process has removed, or tried to.
    private var cleaned: Set<TaskID> = []
    private var index: Store.Index { facts.index }

    package init(facts: TaskFacts, runs: TaskRuns, changes: TaskChanges, health: Health, log: Logger) {
        self.facts = facts
        self.runs = runs
        self.changes = changes
        self.health = health
        self.log = log
    }

    /// Does everything that is due. In a process that runs only what a command asked for, nothing is.
    package func settle() async {
        // If a call is running already, it checks again and does the rest.
        isDue = true
        guard !isSettling, await !runs.queue.scheduler.isRestricted else { return }
        isSettling = true
        defer { isSettling = false }
        while isDue {
            isDue = false
            do {
                var failure: (any Error)?
                for id in try await index.dueTasks() {
                    do { try await advance(id) } catch is CancellationError { throw CancellationError() } catch {
                        // One task that can't go on must not hold up the others. It is tried again.
                        failure = error
                        try await index.setTaskDue(id, at: Date().addingTimeInterval(30))
                    }
                }
                if let failure { throw failure }
                health.clearTrouble("a task can't continue")
            } catch is CancellationError {
                // It stays due for the next process.
                return
            } catch {
                health.noteTrouble("a task can't continue", error)
            }
        }
    }

    /// The most that is recorded of one task at a time, so that a mistake is no endless loop.
    private static let mostSteps = 200

    private func advance(_ id: TaskID) async throws {
        // What happens from now on makes it due again.
        try await index.setTaskDue(id, at: nil)
        for _ in 0..<Self.mostSteps {
            guard let known = try await facts.known(id), try await step(known) else { return }
        }
        throw TaskFailure.unusable("task \(id) does not come to rest; report this as a bug")
    }

    /// Does the next thing for a task.
    ///
    /// - Returns: Whether more may follow at once.
    private func step(_ known: TaskFacts.Known) async throws -> Bool {
        let task = known.task
        switch known.sequence.next() {
        case .done:
            if task.state.isEnded { try await runs.stop(known) }
            return false
        case .record(let what):
            try await record(what, known)
            return true
        case .wait(let state, let reason):
            try await note(state, reason, task)
            guard state == .ready, let what = try await changes.news(of: known) else { return false }
            try await record(what, known)
            return true
        case .begin(let roles, let state, let reason):
            for role in roles {
                if let what = try await runs.begin(role, of: known) {
                    try await record(what, known)
                    return true
                }
            }
            try await note(state, reason, task)
            return false
        case .open(let made):
            let what = try await changes.open(made, of: known, ChangeText(of: made, known))
            try await record(what, known)
            return true
        case .follow:
            try await clean(known)
            if let what = try await changes.news(of: known) {
                try await record(what, known)
                return true
            }
            if let what = try await changes.proposal(for: known) {
                try await record(what, known)
                return true
            }
            if task.state == .released, try await changes.isDelivered(task) {
                try await note(.delivered, "version \(task.release ?? "") has reached its users", task)
            }
            return false
        }
    }

    /// Removes the branch of a change that has landed. It is tried once; the next process tries it again.
    private func clean(_ known: TaskFacts.Known) async throws {
        let task = known.task
        guard task.landedCommit != nil, !cleaned.contains(task.id) else { return }
        switch try await changes.removeBranch(of: known) {
        case .notYet: return
        case .removed, .leftAlone: break
        case .failed(let why):
            log.warning(
                "task \(task.id): its branch \(task.changeBranch) has landed and is not removed: \(why)",
                metadata: .code(.taskBranchKept, repository: task.repository, ["task": String(task.id)]))
        }
        cleaned.insert(task.id)
    }

    // MARK: Recording

    private func record(_ what: TaskEvent.What, _ known: TaskFacts.Known) async throws {
        let (next, reason) = Self.state(after: what)
        let spent = spending(of: what, known)
        let open = TaskState.open
        let event = try await index.appendTaskEvent(what, to: known.task.id, expecting: open) { task in
            if let next { task.state = next }
            if let reason { task.reason = reason }
            if let spent { task.spent.add(spent) }
            switch what {
            case .changeOpened(let name, let link, _): (task.change, task.changeLink) = (name, link)
            case .landed(let commit): task.landedCommit = commit
            case .released(let version, _): task.release = version
            default: break
            }
        }
        guard event != nil else { return }
        say(known.task.id, next, reason, known.task)
    }

    /// Sets the state of a task, unless a person has ended it meanwhile.
    private func note(_ state: TaskState, _ reason: String, _ task: TaskRecord) async throws {
        guard task.state != state || task.reason != reason else { return }
        let changed = try await index.updateTask(task.id, expecting: [task.state]) { task in
            (task.state, task.reason) = (state, reason)
        }
        guard changed else {
            // Something else happened meanwhile.
            try await index.setTaskDue(task.id)
            isDue = true
            return
        }
        if task.state != state { say(task.id, state, reason, task) }
        runs.queue.board.news.tellAll()
    }

    private func say(_ id: TaskID, _ state: TaskState?, _ reason: String?, _ task: TaskRecord) {
        runs.queue.board.news.tellAll()
        guard let state, let reason else { return }
        log.notice(
            "task \(id): \(state.title): \(TerminalText.name(reason, limit: 500))",
            metadata: .code(
                .taskState, repository: task.repository, ["state": state.rawValue, "task": String(id)]))
    }

    /// The state that an event leads to at once, with the reason; nil where what follows decides it.
    private static func state(after what: TaskEvent.What) -> (TaskState?, String?) {
        switch what {
        case .changeOpened(let name, _, _): (.ready, "change \(name) passed; a person is to land it")
        case .landingFailed(let reason): (.ready, reason)
        case .landed(let commit): (.landed, "landed as \(commit.prefix(10))")
        case .released(let version, _): (.released, "version \(version) has it")
        case .delivered(let version, let to): (nil, "version \(version) is published \(to)")
        case .gaveUp(let reason): (.givenUp, reason)
        case .refused(let reason): (.refused, reason ?? "refused")
        case .planRefused(_, let reason): (.refused, reason ?? "the plan was refused")
        case .cancelled(let reason): (.cancelled, reason ?? "cancelled")
        case .answered(let reason): (.answered, reason)
        default: (nil, nil)
        }
    }

    /// What the run behind an event has used.
    private func spending(of what: TaskEvent.What, _ known: TaskFacts.Known) -> TaskSpending? {
        let id: RunID
        switch what {
        case .planned(_, let run), .planFailed(let run, _), .tryFailed(_, _, let run, _): id = run
        case .made(let made): id = made.run
        case .checked(let run, _, _, _): id = run
        default: return nil
        }
        guard let run = known.runs.first(where: { $0.id == id }), run.role.isOfAgent else { return nil }
        var spent = run.outcome?.spent ?? TaskSpending()
        if spent.seconds == 0 { spent.seconds = known.indexed[id]?.summary.duration ?? 0 }
        return spent
    }
}

extension TaskSpending {
    mutating func add(_ other: TaskSpending) {
        seconds += other.seconds
        if let more = other.tokens { tokens = (tokens ?? 0) + more }
        if let more = other.cost { cost = (cost ?? 0) + more }
    }
}
