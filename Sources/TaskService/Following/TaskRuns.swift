import Git
import Pipeline
import Preparing
import Results
package import Running
import Tasks
package import Watching

/// Begins the runs of a task. What is begun again after a crash finds the first.
package struct TaskRuns: Sendable {
    let queue: RunQueue
    let repositories: KnownRepositories

    package init(queue: RunQueue, repositories: KnownRepositories) {
        (self.queue, self.repositories) = (queue, repositories)
    }

    /// Begins the run of a role.
    ///
    /// - Returns: What is known without a run; nil if it was begun.
    func begin(_ role: TaskRole, of known: TaskFacts.Known) async throws -> TaskEvent.What? {
        let task = known.task
        let repository = try await repositories.repository(named: task.repository)
        let tip = try await tip(of: task, in: repository)
        let repetition = role.repetition ?? 1
        switch role.part {
        case .planning:
            _ = try await queue.begin(
                .planning(
                    task, by: role.agent ?? "", version: role.attempt, repetition: repetition, tip: tip.hex))
        case .working:
            _ = try await queue.begin(
                .working(
                    task, by: role.agent ?? "", attempt: role.attempt, tip: tip.hex, onTopOf: known.made(role.base)))
        case .reproducing:
            guard let made = known.made(role.attempt), let workflow = role.workflow else { return nil }
            let tests = try await withRepository(at: repository.store) {
                try TaskReproductionCommit.make(made, of: task.id, onto: tip, in: $0)?.commit
            }
            // What failed by itself needs no new test: those that failed must fail on the target and pass with the try.
            guard let commit = tests ?? (task.source.hasRedTests ? tip : nil) else {
                return .notReproduced(
                    run: made.run, attempt: made.attempt,
                    reason: "it adds or changes no test, and one is wanted that fails without it")
            }
            _ = try await queue.begin(
                .reproducing(
                    task, made, workflow: workflow, repetition: repetition, tip: tip.hex, commit: commit.hex))
        case .comparing:
            let reproduction = known.runs.last {
                $0.role.part == .reproducing && $0.role.attempt == role.attempt && $0.role.workflow == role.workflow
            }
            // The target may have moved since.
            guard let target = reproduction.flatMap({ known.indexed[$0.id]?.request.change?.targetCommit }),
                let workflow = role.workflow
            else { return nil }
            _ = try await queue.begin(
                .comparing(
                    task, attempt: role.attempt, workflow: workflow, repetition: repetition, tip: target))
        case .checking:
            guard let made = known.made(role.attempt), let workflow = role.workflow else { return nil }
            _ = try await queue.begin(
                .checking(task, made, workflow: workflow, repetition: repetition, tip: tip.hex))
        case .reviewing:
            guard let made = known.made(role.attempt) else { return nil }
            _ = try await queue.begin(
                .reviewing(task, made, by: role.agent ?? "", repetition: repetition, tip: tip.hex))
        }
        return nil
    }

    private func tip(of task: TaskRecord, in repository: WatchedRepository) async throws -> OID {
        let refs = try await withRepository(at: repository.gitDirectory) { try $0.snapshot(under: "refs/heads/").refs }
        guard let tip = refs["refs/heads/\(task.branch)"] else {
            throw TaskFailure.unusable(
                "\(repository.name) has no branch \"\(task.branch)\" any more, which task \(task.id) is for")
        }
        return tip
    }

    /// Stops what still runs for a task that has ended.
    func stop(_ known: TaskFacts.Known) async throws {
        for run in known.runs where run.verdict == nil && known.indexed[run.id]?.summary.state != .ended {
            _ = try await queue.cancel(run.id, reason: "task \(known.task.id) is \(known.task.state.title)")
        }
    }
}
