package import Results
package import Store
import Foundation
import Git
import Pipeline

/// Compares a run with the target of its change, or with any other run.
package struct TargetComparison: Sendable {
    package let index: Store.Index
    package let reports: any ReportSource
    /// The git directory with the objects; nil if the repository can't be read, and then no test counts as renamed.
    package let objects: String?

    /// The best run to compare with: one of the same workflow and the same target commit, otherwise one of the branch.
    ///
    /// - Returns: The run, and whether it tested exactly the commit that the change was merged with.
    package func target(of report: Report) async throws -> (run: RunSummary, isExact: Bool)? {
        guard let change = report.change else { return nil }
        for workflow in [report.workflow, nil] {
            for target in [TestedTarget.commit(change.targetCommit), .branch(change.target)] {
                let found = try await index.latestRun(repository: report.repository, workflow: workflow, on: target)
                // A run without tests can't be compared with one that has some.
                let isOfUse = workflow != nil && report.testCounts.total == 0 || (found?.testCounts.total ?? 0) > 0
                guard let found, found.id != report.id, isOfUse else { continue }
                let isExact = (found.testedCommit ?? found.head) == change.targetCommit
                return (found, isExact && workflow != nil)
            }
        }
        return nil
    }

    /// Compares the tests and findings of a run with those of `other`.
    package func comparison(of report: Report, _ tests: [TestResult], with other: RunSummary) async throws -> Comparison
    {
        let commit = other.testedCommit ?? other.head
        let targetTests = try await index.tests(of: other.id)
        var comparison = Comparison.between(tests, and: targetTests, targetRun: other.id, targetCommit: commit)
        if tests.isEmpty {
            // A run without tests, for example because it did not compile, has removed none.
            comparison.vanished = []
        }
        comparison.take(await renames(comparison, report), tests, targetTests)
        comparison.slower = await slower(tests, targetTests, report)
        if other.isArchived, let there = try? await reports.report(other.id) {
            let known = Set(there.findings.map(\.fingerprint))
            comparison.newFindings = Array(
                Set(report.findings.filter { $0.step != nil }.map(\.fingerprint)).subtracting(known)
            ).sorted()
        }
        return comparison
    }

    private func renames(_ comparison: Comparison, _ report: Report) async -> [Comparison.Rename] {
        let added = comparison.added ?? []
        guard !comparison.vanished.isEmpty, !added.isEmpty, let objects, let from = OID(hex: comparison.commit),
            let to = OID(hex: report.testedCommit ?? report.head)
        else { return [] }
        let sources = try? await withRepository(at: objects) { try Self.sources(from: from, to: to, $0) }
        return TestRenames(sources ?? .init(before: [], after: [])).pairs(vanished: comparison.vanished, added: added)
    }

    /// The texts of the differing files, up to a limit.
    private static func sources(from: OID, to: OID, _ git: Repository) throws -> TestRenames.Sources {
        var sources = TestRenames.Sources(before: [], after: [])
        var bytes = 0
        for change in try git.diff(from: from, to: to).prefix(500) where !change.isBinary && bytes < 16 << 20 {
            for (path, commit, isOld) in [(change.oldPath ?? change.path, from, true), (change.path, to, false)] {
                guard let file = try git.smallFile(path, at: commit, atMost: 1 << 20) else { continue }
                bytes += file.count
                let text = String(decoding: file, as: UTF8.self)
                if isOld { sources.before.append(text) } else { sources.after.append(text) }
            }
        }
        return sources
    }

    /// Tests that take longer than on the target, and longer than their own history and the machine's load explain.
    private func slower(
        _ tests: [TestResult], _ targetTests: [TestResult], _ report: Report
    ) async -> [Comparison.Slowdown] {
        let before = Dictionary(
            targetTests.compactMap { test in test.duration.map { (test.id, $0) } }, uniquingKeysWith: max)
        let load = RunLoad.factor(tests, beside: targetTests)
        let suspects = tests.compactMap { test -> (test: TestResult, seconds: Double, by: Double)? in
            guard test.status == .passed, let seconds = test.duration, seconds.isFinite, let old = before[test.id],
                seconds > old * load * (1 + DurationHistory.leastPart), seconds - old > DurationHistory.leastSeconds
            else { return nil }
            return (test, seconds, seconds - old)
        }
        var found: [Comparison.Slowdown] = []
        // Each needs a query of its history, and nobody reads more than the worst.
        for suspect in suspects.sorted(by: { $0.by > $1.by }).prefix(20) {
            let filter = TestFilter(repository: report.repository, workflow: report.workflow, limit: 60)
            let history = try? await index.testHistory(
                suite: suspect.test.suite, name: suspect.test.name, filter)
            let times = (history ?? []).filter { one in
                one.run != report.id && one.result.status == .passed
                    && (one.change == nil || one.change != report.change?.name)
            }.compactMap(\.result.duration)
            guard let past = DurationHistory(times), past.isSlower(suspect.seconds, load: load) else { continue }
            found.append(
                .init(
                    test: suspect.test.id, seconds: suspect.seconds, median: past.median, deviation: past.deviation,
                    samples: past.samples))
        }
        return found
    }
}
