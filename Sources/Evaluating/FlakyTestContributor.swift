import Results
import Store
import Foundation
package import Pipeline

/// Adds a finding for each test that failed and passed on the same tree, with its history.
struct FlakyTestContributor: ReportContributor {
    /// The number of earlier runs from which a test's rate is computed.
    static let window = 200
    private static let mostFindings = 50

    let index: Store.Index

    func contribute(to draft: inout ReportDraft, of run: FinishedRun) async {
        let tests = draft.tests
        let failed = Set(tests.filter(\.status.isFailure).map(\.id))
        let last = failed.isEmpty ? [:] : tests.lastAttempts
        let flaky = failed.compactMap { last[$0] }.filter { $0.status == .passed }.sorted { $0.id < $1.id }
        guard !flaky.isEmpty else { return }
        let known =
            (try? await index.flakyTests(TestFilter(repository: draft.report.repository, limit: Self.window))) ?? []
        for test in flaky.prefix(Self.mostFindings) {
            let place = tests.first { $0.id == test.id && $0.status.isFailure } ?? test
            let history =
                known.first { $0.suite == test.suite && $0.name == test.name }.map { Self.words(for: $0) }
                ?? "this did not happen in the last \(Self.window) runs"
            draft.report.findings.append(
                Finding(
                    rule: "flaky-test", severity: .warning,
                    message: "\(test.id) failed and passed on the same tree; \(history)", file: place.file,
                    line: place.line,
                    suggestion: "see it with: pipectl history \(test.id.shellQuoted)"))
        }
    }

    private static func words(for test: FlakyTest) -> String {
        let first = test.firstRun.map { run in
            ", first in run \(run)"
                + (test.firstEndedAt.map { " on \($0.iso8601Day)" } ?? "")
        }
        return "this happened in \(test.flips) of its last \(test.runs) runs\(first ?? "")"
    }
}

extension Store.Index {
    /// The ids of tests that recently had both results on one tree; empty if no step of the plan needs them.
    package func knownFlaky(for plan: Plan, of repository: String) async -> Set<String> {
        guard plan.steps.contains(where: { ($0.testRetry?.timesKnown ?? 0) > ($0.testRetry?.times ?? 0) }) else {
            return []
        }
        let known = try? await flakyTests(TestFilter(repository: repository, limit: FlakyTestContributor.window))
        return Set((known ?? []).map(\.id))
    }
}
