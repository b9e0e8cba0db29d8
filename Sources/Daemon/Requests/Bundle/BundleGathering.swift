import Evaluating
import Store
import Reports
import Results
import Foundation
import Git
import Pipeline

/// Reads further facts for a bundle from the repository and the index; unreadable facts are left out.
struct BundleGathering {
    let index: Store.Index
    let tests: TestQueries
    var document: ReportDocument

    private var report: Report { document.report }

    mutating func gather(into evidence: inout BundleEvidence) async {
        let comparing = await tests.comparing(report)
        await compareAnew(comparing)
        // Without a problem there is nothing to find nearby changes for.
        guard hasProblems else { return }
        evidence.flaky = await flaky()
        guard let objects = comparing.objects else { return }
        let report = report
        let read = try? await withRepository(at: objects) { store in
            (try Self.hunks(of: report, store), try Self.conflicts(of: report, store), try Self.places(report, store))
        }
        if let read { (evidence.hunks, evidence.conflictLines, evidence.places) = read }
    }

    /// The target may have been run since, and a live run is not compared yet.
    private mutating func compareAnew(_ comparing: TargetComparison) async {
        guard let change = report.change, report.verdict != .cancelled, report.verdict != .superseded,
            report.comparison?.commit != change.targetCommit, let target = try? await comparing.target(of: report)
        else { return }
        let tests = document.tests
        guard !tests.isEmpty || report.findings.contains(where: { $0.step != nil }) else { return }
        if let known = report.comparison, target.run.id == known.against { return }
        document.report.comparison = try? await comparing.comparison(of: report, tests, with: target.run)
        if let blame = TargetBlame(document.report, tests) {
            document.report.reason = blame.reason(document.report.reason)
        }
    }

    private var hasProblems: Bool {
        report.verdict != .passed || !report.findings.isEmpty || report.comparison?.vanished.isEmpty == false
            || report.comparison?.newlySkipped.isEmpty == false
    }

    private static func conflicts(of report: Report, _ store: Repository) throws -> [String: Int] {
        guard !report.conflicts.isEmpty, let change = report.change, let head = OID(hex: change.head),
            let target = OID(hex: change.targetCommit), store.contains(head), store.contains(target)
        else { return [:] }
        do {
            return try store.conflictLines(merging: head, into: target)
        } catch {
            // Files that are too large to be compared have no lines.
            if error.code == .tooLarge { return [:] }
            throw error
        }
    }

    /// The declarations on the target of removed tests, and in the change of skipped ones.
    private static func places(_ report: Report, _ store: Repository) throws -> [String: BundleEvidence.Place] {
        guard let comparison = report.comparison else { return [:] }
        var places: [String: BundleEvidence.Place] = [:]
        for (ids, commit) in [
            (comparison.vanished, comparison.commit),
            (comparison.newlySkipped, report.testedCommit ?? report.head),
        ] where !ids.isEmpty {
            guard let commit = OID(hex: commit), store.contains(commit) else { continue }
            places.merge(try TestLocator(store, commit).places(of: ids)) { first, _ in first }
        }
        return places
    }

    /// The difference of the change: the tested tree against the target, otherwise the head against its starting point.
    private static func hunks(of report: Report, _ store: Repository) throws -> [RunBundle.Hunk] {
        let tested = OID(hex: report.testedCommit ?? report.head).flatMap { store.contains($0) ? $0 : nil }
        var (from, to): (OID?, OID?) = (nil, tested)
        if let change = report.change, let target = OID(hex: change.targetCommit), store.contains(target) {
            from = target
            if to == nil || report.testedCommit == nil, let head = OID(hex: change.head), store.contains(head) {
                (from, to) = (try store.mergeBase(head, target), head)
            }
        } else if let to {
            from = try store.commit(to).parents.first
        }
        guard let to, let from else { return [] }
        return try store.hunks(from: from, to: to, maximumBytes: 512 << 10, maximumHunks: 2_000).map {
            RunBundle.Hunk(file: $0.path, line: $0.newStart, lines: $0.newLines, text: $0.text)
        }
    }

    /// How often the failing tests had both results on one tree.
    private func flaky() async -> [String: String] {
        let failing = Set(document.tests.filter(\.status.isFailure).map(\.id))
        guard !failing.isEmpty else { return [:] }
        let filter = TestFilter(repository: report.repository, workflow: report.workflow, limit: 200)
        let known = (try? await index.flakyTests(filter)) ?? []
        return Dictionary(
            known.filter { failing.contains($0.id) }.map { test in
                (test.id, "failed and passed on the same tree in \(test.flips) of its last \(test.runs) runs")
            }, uniquingKeysWith: { first, _ in first })
    }
}
