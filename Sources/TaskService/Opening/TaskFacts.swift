import Pipeline
package import Results
package import Store
package import Tasks
package import Archive

/// Reads from the store and the archive what is recorded of a task.
package struct TaskFacts: Sendable {
    let index: Store.Index
    let store: ArchiveStore

    package init(index: Store.Index, store: ArchiveStore) { (self.index, self.store) = (index, store) }

    /// A task with everything that its next action depends on.
    package struct Known: Sendable {
        package var task: TaskRecord
        package var events: [TaskEvent]
        package var runs: [TaskRun]
        /// The runs as the store has them, by number.
        var indexed: [RunID: IndexedRun]

        package var sequence: TaskSequence { TaskSequence(task, events, runs) }

        /// The try with this number.
        func made(_ attempt: Int?) -> TaskTry? {
            events.lazy.compactMap { if case .made(let made) = $0.what { made } else { nil } }
                .last { $0.attempt == attempt }
        }
    }

    /// - Returns: Nil if there is no such task.
    package func known(_ id: TaskID) async throws -> Known? {
        guard let task = try await index.task(id) else { return nil }
        let indexed = try await index.taskRuns(of: id)
        var runs: [TaskRun] = []
        for run in indexed {
            guard let role = run.request.task else { continue }
            runs.append(try await self.run(run, role))
        }
        for position in runs.indices where runs[position].role.part == .reproducing && !runs[position].failed.isEmpty {
            guard let (red, green) = try await before(runs[position], runs, of: indexed) else { continue }
            (runs[position].redBefore, runs[position].greenBefore) = (red, green)
        }
        return Known(
            task: task, events: try await index.taskEvents(of: id), runs: runs,
            indexed: Dictionary(indexed.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first }))
    }

    private func run(_ run: IndexedRun, _ role: TaskRole) async throws -> TaskRun {
        let summary = run.summary
        var one = TaskRun(id: run.id, role: role, createdAt: summary.createdAt, reason: summary.reason ?? "")
        // Until the report is durable, a crash may still change how the run ends.
        guard summary.state == .ended, summary.isArchived else { return one }
        let report = try await store.report(run.id)
        (one.verdict, one.reason, one.outcome) = (report.verdict, report.reason, report.task)
        one.breaches = report.integrity?.breaches ?? 0
        one.findings = report.steps.compactMap(\.review).last?.findings ?? []
        if [.reproducing, .comparing, .checking].contains(role.part) {
            (one.failed, one.passed) = Self.results(try await index.tests(of: run.id))
        }
        return one
    }

    /// The tests that fail and those that pass on the target's commit as it is, as any run of the same workflow there has shown.
    private func before(
        _ run: TaskRun, _ runs: [TaskRun], of indexed: [IndexedRun]
    ) async throws -> (red: Set<String>, green: Set<String>)? {
        guard let request = indexed.first(where: { $0.id == run.id })?.request,
            let target = request.change?.targetCommit
        else { return nil }
        let commits = Dictionary(indexed.map { ($0.id, $0.request.head) }, uniquingKeysWith: { first, _ in first })
        let own = runs.last {
            $0.role.part == .comparing && $0.role.workflow == run.role.workflow && commits[$0.id] == target
                && [.passed, .failed, .flaky].contains($0.verdict)
        }
        if let own { return (Set(own.failed), own.passed) }
        guard
            let other = try await index.latestRun(
                repository: request.repository, workflow: request.workflow, on: .commit(target))
        else { return nil }
        let (failed, passed) = Self.results(try await index.tests(of: other.id))
        return (Set(failed), passed)
    }

    /// The names of the tests that failed at their last try, in their order, and of those that passed.
    static func results(_ tests: [TestResult]) -> (failed: [String], passed: Set<String>) {
        var last: [String: TestResult] = [:]
        var order: [String] = []
        for test in tests {
            if last[test.id] == nil { order.append(test.id) }
            if last[test.id].map({ $0.attempt <= test.attempt }) ?? true { last[test.id] = test }
        }
        let failed = order.filter { last[$0]?.status == .failed || last[$0]?.status == .errored }
        return (failed, Set(order.filter { last[$0]?.status == .passed }))
    }
}
