import DaemonLog
import Evaluating
import Foundation
package import Logging
import Pipeline
import Results
package import Running
import Store
import TerminalText

/// Makes tasks of scheduled runs that fail and of tests that turn red on the target, where the target declares that; and
/// answers those that turn green again before the work began.
package struct FailureIntake: RunListener {
    /// Tests that a task's text names.
    static let mostTests = 50

    let requests: TaskRequests
    let sources: TaskSources
    let log: Logger
    package let name = "tasks of failures"

    package init(requests: TaskRequests, sources: TaskSources, log: Logger) {
        (self.requests, self.sources, self.log) = (requests, sources, log)
    }

    package func wants(_ event: DaemonEvent) -> Bool {
        guard case .recorded(let run) = event else { return false }
        return Self.counts(run.request)
    }

    /// Whether a run says how the target is.
    static func counts(_ request: RunRequest) -> Bool {
        request.change == nil && request.branch != nil && !request.isPartial && request.source == nil
            && request.fix == nil && request.task == nil && ![.bisect, .flakeProbe].contains(request.background)
    }

    package func receive(_ event: DaemonEvent) async {
        guard case .recorded(let run) = event else { return }
        await take(Facts(run.report), run.request, tests: run.tests)
    }

    /// What a task's text needs of a run.
    struct Facts: Sendable {
        var id: RunID
        var repository: String
        var workflow: String
        var branch: String?
        var head: String
        var verdict: Verdict
        var reason: String

        init(_ report: Report) {
            (id, repository, workflow, branch) = (report.id, report.repository, report.workflow, report.branch)
            (head, verdict, reason) = (report.head, report.verdict, report.reason)
        }

        /// Nil for a run that has not ended.
        init?(_ run: RunSummary) {
            guard run.state == .ended, let verdict = run.verdict else { return nil }
            (id, repository, workflow, branch) = (run.id, run.repository, run.workflow, run.branch)
            (head, self.verdict, reason) = (run.head, verdict, run.reason ?? "")
        }
    }

    /// Does what follows from the newest run of each workflow on the targets: a process that was killed may have missed it.
    func catchUp() async {
        for name in sources.watched {
            guard let rules = await sources.rules(of: name), !rules.sources.isEmpty else { continue }
            do {
                var seen: Set<String> = []
                let filter = RunFilter(repository: name, branch: rules.branch, states: [.ended], limit: 100)
                for summary in try await requests.index.runs(filter) {
                    guard let run = try await requests.index.run(summary.id), Self.counts(run.request),
                        let facts = Facts(summary), seen.insert("\(summary.workflow) \(run.request.event)").inserted
                    else { continue }
                    await take(facts, run.request, tests: try await requests.index.tests(of: summary.id))
                }
            } catch {
                log.warning(
                    "\(name): no tasks are made of earlier runs: \(error)",
                    metadata: .code(.taskFailed, repository: name))
            }
        }
    }

    package func missed(_ count: Int) async {
        log.warning(
            "no tasks are made of \(count) runs: too many end at a time", metadata: .code(.eventsMissed))
    }

    /// Does what follows from a run. Repeating it changes nothing.
    func take(_ report: Facts, _ request: RunRequest, tests: [TestResult]) async {
        guard let rules = await sources.rules(of: report.repository), report.branch == rules.branch else { return }
        do {
            if request.event == .schedule, rules.sources.contains(.scheduledRun(report.workflow)) {
                try await takeScheduled(report, tests)
            } else if rules.sources.contains(.redTarget), !tests.isEmpty {
                try await takeTests(report, tests)
            }
        } catch {
            log.warning(
                "run \(report.id): no task follows from it: \(error)", metadata: .code(.taskFailed, run: report.id))
        }
    }

    // MARK: Scheduled runs

    private func takeScheduled(_ report: Facts, _ tests: [TestResult]) async throws {
        let open = try await open(report.repository) { if case .scheduledRun(let run) = $0 { run } else { nil } }
        var ofWorkflow: [TaskRecord] = []
        for (task, run) in open {
            if try await requests.index.run(run)?.summary.workflow == report.workflow { ofWorkflow.append(task) }
        }
        switch report.verdict {
        case .passed, .flaky:
            for task in ofWorkflow {
                try await answer(task, "workflow \(report.workflow) passes again, in run \(report.id)")
            }
        case .failed:
            // A night like the one before is the same failure.
            guard ofWorkflow.isEmpty else { return }
            let failing = tests.lastAttempts.values.filter(\.status.isFailure).sorted { $0.id < $1.id }
            let text = """
                The scheduled run \(report.id) of workflow \(report.workflow) failed at commit \(report.head.prefix(10)): \
                \(TerminalText.name(report.reason, limit: 1_000))

                \(Self.list(failing))
                """
            try await add(
                report, title: "Scheduled workflow \(report.workflow) fails", text: text,
                source: .scheduledRun(report.id), key: "scheduled run \(report.id)")
        default: return
        }
    }

    // MARK: Tests

    private func takeTests(_ report: Facts, _ tests: [TestResult]) async throws {
        let last = tests.lastAttempts
        let open = try await open(report.repository) { source -> String? in
            if case .redTest(let test, _) = source { test } else { nil }
        }
        for (task, test) in open where last[test]?.status == .passed {
            try await answer(task, "the test passes again, in run \(report.id)")
        }
        guard report.verdict == .failed, let before = try await runBefore(report) else { return }
        let earlier = try await requests.index.tests(of: before).lastAttempts
        let red = last.values.filter { $0.status.isFailure && earlier[$0.id]?.status == .passed }
            .sorted { $0.id < $1.id }
        guard let first = red.first, !open.contains(where: { open in red.contains { $0.id == open.value } }) else {
            return
        }
        let more = red.count > 1 ? " and \(red.count - 1) more" : ""
        let text = """
            \(red.count == 1 ? "A test" : "Tests") that passed in run \(before) \(red.count == 1 ? "fails" : "fail") on \
            \(report.branch ?? "the target") since commit \(report.head.prefix(10)), run \(report.id) of workflow \
            \(report.workflow). Find out which commit broke \(red.count == 1 ? "it" : "them"), and mend the code rather than \
            the test, unless the test is wrong.

            \(Self.list(red))
            """
        try await add(
            report, title: "\(TerminalText.name(first.id, limit: 120)) fails\(more)", text: text,
            source: .redTest(first.id, run: report.id), key: "red test \(first.id.prefix(300)) \(report.id)")
    }

    /// The run of the branch before this one.
    private func runBefore(_ report: Facts) async throws -> RunID? {
        var filter = RunFilter(
            repository: report.repository, workflow: report.workflow, branch: report.branch, states: [.ended],
            verdicts: [.passed, .failed, .flaky], before: report.id, limit: 20)
        filter.hidesUpkeep = false
        for summary in try await requests.index.runs(filter) where summary.testCounts.total > 0 {
            if let run = try await requests.index.run(summary.id), Self.counts(run.request) { return summary.id }
        }
        return nil
    }

    // MARK: Tasks

    /// The tasks that have not ended and whose source `pick` finds something in.
    private func open<Value>(
        _ repository: String, _ pick: (TaskSource) -> Value?
    ) async throws -> [(task: TaskRecord, value: Value)] {
        try await requests.index.tasks(TaskFilter(repository: repository, limit: 1_000)).compactMap { task in
            guard !task.state.isEnded, let value = pick(task.source) else { return nil }
            return (task, value)
        }
    }

    private func add(_ report: Facts, title: String, text: String, source: TaskSource, key: String) async throws {
        var title = title
        while title.utf8.count > TaskDraft.longestTitle { title.removeLast() }
        let (task, isNew) = try await requests.add(
            TaskDraft(
                repository: report.repository, title: title,
                text: String(decoding: text.utf8.prefix(TaskDraft.longestText - 8), as: UTF8.self), source: source,
                reporter: "run \(report.id)", key: key), by: .pipectl)
        if isNew {
            log.notice(
                "task \(task.id) of \(report.repository): \(TerminalText.name(title))",
                metadata: .code(.taskAdded, run: report.id))
        }
    }

    /// Ends a task whose work has not begun, since what it is about is gone.
    private func answer(_ task: TaskRecord, _ reason: String) async throws {
        let event = try await requests.index.appendTaskEvent(
            .answered(reason: reason), to: task.id, expecting: [.planning, .planWaits]
        ) { record in
            record.state = .answered
            record.reason = reason
        }
        guard event != nil else { return }
        requests.queue.board.news.tellAll()
        await requests.settle()
    }

    /// Names and messages of tests; they are of the code under test.
    private static func list(_ tests: [TestResult]) -> String {
        var lines = tests.prefix(mostTests).map { test in
            let message = test.message.map { ": \(TerminalText.name($0, limit: 300))" } ?? ""
            return "- \(TerminalText.name(test.id, limit: 300))\(message)"
        }
        if tests.count > mostTests { lines.append("- and \(tests.count - mostTests) more") }
        return lines.joined(separator: "\n")
    }
}
