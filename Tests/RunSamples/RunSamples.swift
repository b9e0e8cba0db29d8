import Engine
package import Results
package import Store
package import Foundation
import Git
package import Pipeline
package import Preparing
package import Watching
package import Evaluating
import WorkflowPrograms

/// Runs that tests of phases start from; each test changes what it is about.
package enum RunSample {
    package static let start = Date(timeIntervalSince1970: 1_790_000_000)

    /// A commit id that ends with `number`.
    package static func commit(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "a", count: 40 - digits.count) + digits
    }

    /// A run of change 7 into main; with `change` nil, of a merge into main.
    package static func request(change: String? = "7", nonce: String = "") -> RunRequest {
        RunRequest(
            repository: "alpha", workflow: "test", event: change == nil ? .merge : .pullRequest,
            ref: change.map { "refs/pull/\($0)/head" } ?? "refs/heads/main", branch: "main", head: commit(1),
            definitionCommit: commit(0),
            change: change.map {
                Change(
                    name: $0, head: commit(1), target: "main", targetCommit: commit(0), title: "Change \($0)",
                    author: "ada")
            },
            nonce: nonce, subject: change ?? "main", concurrency: .supersede)
    }

    package static func report(
        _ id: RunID = 1, _ request: RunRequest = request(), verdict: Verdict = .passed, steps: [StepRecord] = []
    ) -> Report {
        var report = Report(
            id: id, repository: request.repository, workflow: request.workflow, event: request.event, ref: request.ref,
            branch: request.branch, head: request.head, testedCommit: commit(0xBEEF), testedTree: commit(0xCAFE),
            change: request.change, verdict: verdict, reason: "as it is", createdAt: start, startedAt: start,
            endedAt: start.addingTimeInterval(10), steps: steps, reproduce: "",
            box: Report.Machine(host: "box", system: "Linux", pipectlVersion: "0"))
        report.trust = request.change == nil ? .merged : .change
        return report
    }

    package static func step(_ name: String, _ status: StepStatus) -> StepRecord {
        StepRecord(name: name, command: name, status: status)
    }

    package static func test(_ name: String, _ status: TestResult.Status, attempt: Int = 1) -> TestResult {
        TestResult(suite: "S", name: name, status: status, file: "Tests/S.swift", line: 3, attempt: attempt)
    }

    package static func declaration(_ change: (inout WorkflowDeclaration) -> Void = { _ in }) -> WorkflowDeclaration {
        var declaration = WorkflowDeclaration(
            name: "test", triggers: [.pullRequest(into: "main"), .merge(into: "main")])
        change(&declaration)
        return declaration
    }

    /// A prepared run of a plan.
    ///
    /// - Parameter tested: The tested commit and its tree; ids that nothing has, unless they are given.
    package static func prepared(
        _ request: RunRequest = request(), _ declaration: WorkflowDeclaration = declaration(),
        _ steps: [PlannedStep] = [PlannedStep(name: "unit", action: .shell("true"))],
        tested: (commit: String, tree: String) = (commit(0xBEEF), commit(0xCAFE))
    ) throws -> RunPreparation {
        let plan = Plan(workflow: "test", steps: steps)
        guard let id = OID(hex: tested.commit), let tree = OID(hex: tested.tree) else { throw NotAnObjectID() }
        return RunPreparation(
            tested: id, tree: tree, commitTime: 0,
            context: PlanContext(
                repository: "alpha", event: request.event, commit: tested.commit, ref: request.ref,
                branch: request.branch, change: request.change),
            declaration: declaration, plan: plan, wholePlan: plan,
            program: WorkflowProgram(
                key: "", executable: "/none", description: ProgramDescription(workflows: [declaration]),
                directory: "/none", reads: [], programSandbox: .none, environment: [:], limits: ProgramLimits()),
            definition: Report.Definition(commit: commit(0), tree: commit(0xDEF), toolchain: "swift"),
            trust: request.change == nil ? .merged : .change, editsDefinition: false, notes: [])
    }

    /// A repository that does not exist: what reads Git finds nothing out.
    package static let nowhere = WatchedRepository(
        name: "alpha", location: "/none", gitDirectory: "/none", store: "/none", isRemote: false)

    /// A run whose steps have ended.
    package static func finished(
        _ id: RunID = 1, _ request: RunRequest = request(), _ declaration: WorkflowDeclaration = declaration()
    ) throws -> FinishedRun {
        FinishedRun(
            run: QueuedRun(id: id, request: request, createdAt: start),
            prepared: try prepared(request, declaration), repository: nowhere)
    }

    /// An index in memory that watches "alpha".
    package static func index() async throws -> Store.Index {
        let index = try Store.Index.inMemory(now: { start })
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
        return index
    }
}

extension Store.Index {
    /// Accepts, starts and ends a run.
    @discardableResult
    package func completed(_ request: RunRequest, _ verdict: Verdict = .passed, tests: [TestResult] = []) async throws
        -> RunID
    {
        let id = try await enqueue(request).run.id
        try await markRunning(id)
        var report = RunSample.report(id, request, verdict: verdict)
        report.testCounts = TestCounts(tests)
        report.testedCommit = request.change == nil ? request.head : report.testedCommit
        try await finish(report, tests: tests, archivedBytes: 100)
        return id
    }
}

/// A sample was asked for with an object id that is none.
package struct NotAnObjectID: Error {}

/// Reports in memory.
package struct ReportShelf: ReportSource {
    package var reports: [RunID: Report] = [:]
    package var results: [RunID: [TestResult]] = [:]

    package init(reports: [RunID: Report] = [:], results: [RunID: [TestResult]] = [:]) {
        (self.reports, self.results) = (reports, results)
    }

    package func report(_ id: RunID) async throws -> Report {
        guard let report = reports[id] else { throw ArchiveError.unknownRun(id) }
        return report
    }

    package func tests(_ id: RunID) async throws -> [TestResult] { results[id] ?? [] }
}
