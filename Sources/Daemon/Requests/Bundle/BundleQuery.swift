import Watching
import Running
import Evaluating
import Control
import Archive
import Reports
import Results
import Store

import Foundation
import Git
import Pipeline

/// Makes bundles: documents that say what must change before a run passes.
struct BundleQuery: Sendable {
    let index: Store.Index
    let store: ArchiveStore
    let board: LiveBoard
    let tests: TestQueries

    /// The bundle of a run; of a live one, with the results so far.
    func bundle(_ request: BundleRequest) async throws -> String {
        // The budget may vary, but it is always limited.
        let bytes = min(max(request.bytes, BundleDraft.minimumBytes), 4 << 20)
        return try await draft(of: request.run).render(bytes: bytes, as: request.format)
    }

    private func draft(of id: RunID) async throws -> BundleDraft {
        guard let (run, live) = try await board.state(of: id, index) else { throw RequestError.unknownRun(id) }
        var evidence = BundleEvidence()
        let document: ReportDocument
        if run.summary.isArchived {
            document = try await archivedDocument(id)
        } else if let live {
            evidence.isRunning = true
            document = await liveDocument(run, live)
        } else if let held = Report(held: run) {
            document = ReportDocument(report: held)
        } else {
            throw RequestError(
                .unknownRun,
                "run \(id) has not started (\(run.summary.state.rawValue)) and has no bundle yet; "
                    + "`pipectl show \(id)` shows its progress")
        }
        var gathering = BundleGathering(index: index, tests: tests, document: document)
        await gathering.gather(into: &evidence)
        return BundleDraft(gathering.document, evidence)
    }

    /// An ended run with its tests, and the logs of failed steps.
    func archivedDocument(_ id: RunID) async throws -> ReportDocument {
        let report = try await store.report(id)
        let tests = try await store.tests(id)
        var logs: [String: ReportLog] = [:]
        for step in report.steps where step.status.isFailure {
            guard let name = step.attempts.last?.log?.file else { continue }
            logs[name] = (try? await store.log(id, name)).map { ReportLog(bytes: $0) }
        }
        return ReportDocument(report: report, tests: tests) { [logs] in logs[$0] }
    }

    /// The head of a change that contains its target: it is tested as it is, without a merge.
    private func headAsItIs(of report: Report) async -> String? {
        guard let change = report.change, let head = OID(hex: change.head), let target = OID(hex: change.targetCommit),
            let objects = await tests.comparing(report).objects
        else { return nil }
        let isAhead = try? await withRepository(at: objects) { try $0.isAncestor(target, of: head) }
        return isAhead == true ? change.head : nil
    }

    /// A live run so far: the ended steps, with the findings in their logs.
    private func liveDocument(_ run: IndexedRun, _ live: LiveRun) async -> ReportDocument {
        var report = Report(
            starting: QueuedRun(
                id: run.id, request: run.request, createdAt: run.summary.createdAt, attempt: run.summary.attempt),
            at: live.startedAt)
        report.steps = live.steps.map(\.record)
        report.testedCommit = run.summary.testedCommit
        if report.testedCommit == nil { report.testedCommit = await headAsItIs(of: report) }
        let left = board.evidence(of: run.id)
        report.findings = left.findings
        let done = live.steps.count { $0.record.status.isFinal }
        let failed = live.steps.filter { $0.record.status.isFailure }.map { "\"\($0.record.name)\"" }
        report.reason =
            "running, \(done) of \(live.steps.count) steps have ended"
            + (failed.isEmpty ? "" : ", failed so far: \(failed.joined(separator: ", "))")
        var tests: [TestResult] = []
        for index in report.steps.indices {
            let own = left.tests[report.steps[index].name] ?? []
            report.steps[index].tests = TestSpan(first: tests.count, count: own.count)
            tests += own
        }
        report.testCounts = TestCounts(tests)
        let folder = live.logs
        return ReportDocument(report: report, tests: tests) { file in
            guard !file.contains("/"), let bytes = FileManager.default.contents(atPath: "\(folder)/\(file)") else {
                return nil
            }
            return ReportLog(bytes: Array(bytes))
        }
    }
}
