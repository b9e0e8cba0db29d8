package import Watching
package import Preparing
package import Results
import Archive
package import TestIntegrity

/// Adds one kind of fact to the report of a run whose steps have ended.
///
/// If a fact can't be determined, it is left out or becomes a finding: an evaluation never fails a run.
package protocol ReportContributor: Sendable {
    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async
}

/// A run whose steps have ended, as contributors see it.
package struct FinishedRun: Sendable {
    package let run: QueuedRun
    let prepared: RunPreparation
    package let repository: WatchedRepository
    /// The result of the source check; nil if the definition has no integrity rules.
    package var sources: IntegrityOutcome?

    package init(
        run: QueuedRun, prepared: RunPreparation, repository: WatchedRepository, sources: IntegrityOutcome? = nil
    ) {
        self.run = run
        self.prepared = prepared
        self.repository = repository
        self.sources = sources
    }

    package var request: RunRequest { run.request }
}

/// A report while it is evaluated.
package struct ReportDraft: Sendable {
    package var report: Report
    /// All tests with all attempts.
    package var tests: [TestResult]
    /// Background runs that would give later reports more facts.
    package var wantedRuns: [RunRequest] = []

    package init(report: Report, tests: [TestResult] = []) {
        self.report = report
        self.tests = tests
    }
}

/// Reads the reports of earlier runs.
package protocol ReportSource: Sendable {
    /// - Throws: `ArchiveError` if the archive has no report of the run, or it can't be read.
    func report(_ id: RunID) async throws -> Report
    /// All tests of the run with all attempts.
    func tests(_ id: RunID) async throws -> [TestResult]
}

extension ArchiveStore: ReportSource {}

extension Sequence<TestResult> {
    /// The last attempt of each test, by the test's id.
    package var lastAttempts: [String: TestResult] {
        var last: [String: TestResult] = [:]
        for test in self where (last[test.id]?.attempt ?? 0) <= test.attempt { last[test.id] = test }
        return last
    }
}
