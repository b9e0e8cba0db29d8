import Watching
import Preparing
import Results
import Store
import Archive
import Concurrency
import Git
import Pipeline
import WorkflowPrograms

/// The first phase: finds the tested commit, the workflow program, how far both are trusted, and the plan.
struct PreparePhase: Sendable {
    let programs: ProgramCache
    let index: Store.Index
    let tasks: TaskRecords
    let order: RunOrder
    let gate: TreeGate
    /// Whether untrusted definitions may be compiled here: in a sandbox, or because the user allows it without one.
    let reviewsDefinitions: Bool

    /// - Throws: ``EarlyVerdict`` if the verdict is known without a step, or a person must approve first.
    func prepare(_ task: RunTask) async throws -> RunPreparation {
        try await gate.check(task.run, in: task.repository)
        let made = try await RunPreparation.make(
            task.run, in: task.repository, programs: programs, rules: task.rules, task: tasks.record,
            tests: { await order.tests(of: task.request, $0, store: task.repository.store) },
            contributor: { [index] in try await index.contributor(of: task.request, pushed: $0.pushed.hex) }
        ) { [index] in try await index.approval(holdingFor: $0) }
        let prepared = try await ReleaseDue(index: index).settled(made, task.request, in: task.repository)
        try await ReleaseCheck(index: index).check(prepared, task.request)
        return prepared
    }

    /// What the change's own definition would do; the review ends when the run is stopped.
    func definitionReview(_ task: RunTask, _ prepared: RunPreparation) async -> Finding? {
        guard prepared.editsDefinition, reviewsDefinitions else { return nil }
        return await withTaskGroup(of: Finding?.self) { group in
            group.addTask {
                await DefinitionReview(run: prepared, repository: task.repository, programs: programs).finding()
            }
            group.addTask {
                _ = await task.stop.wait()
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
