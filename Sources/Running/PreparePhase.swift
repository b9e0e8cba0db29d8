import Watching
import Preparing
import Results
import Store
import Archive
import Concurrency
import WorkflowPrograms

/// The first phase: the tested commit, the workflow program, the trust in both, and the plan.
struct PreparePhase: Sendable {
    let programs: ProgramCache
    let index: Store.Index
    let order: RunOrder
    let gate: TreeGate
    /// Whether definitions that nobody has read may be compiled here: in a sandbox, or because the user allows it.
    let reviewsDefinitions: Bool

    /// - Throws: ``EarlyVerdict`` when the verdict is clear without a step, or a person must be asked first.
    func prepare(_ task: RunTask) async throws -> RunPreparation {
        try await gate.check(task.run, in: task.repository)
        return try await RunPreparation.make(
            task.run, in: task.repository, programs: programs, rules: task.rules,
            tests: { await order.tests(of: task.request, $0, store: task.repository.store) }
        ) { [index] in try await index.approval(holdingFor: $0) }
    }

    /// What the definition that a change brings would do; given up as soon as the run is stopped.
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
