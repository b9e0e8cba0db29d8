import Evaluating
import Store
import Reports
import Results
import Foundation
import Git
import Pipeline

/// Reads from the repository and the index what a bundle says beyond the report; what can't be read is left out.
struct BundleGathering {
    let index: Store.Index
    let tests: TestQueries
    var document: ReportDocument

    private var report: Report { document.report }

    mutating func gather(into evidence: inout BundleEvidence) async {
        let comparing = await tests.comparing(report)
        await compareAnew(comparing)
        // A run with nothing wrong has nothing to be near to.
        guard hasProblems else { return }
        evidence.flaky = await flaky()
        guard let objects = comparing.objects else { return }
        let report = report
        let read = try? await withRepository(at: objects) { store in
            (try Self.hunks(of: report, store), try Self.conflicts(of: report, store), try Self.places(report, store))
        }
        if let read { (evidence.hunks, evidence.conflictLines, evidence.places) = read }
    }

    /// The target may have been run since, and of a run that goes on nothing is compared yet.
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
            // Files that are not compared by lines have none to name.
            if error.code == .tooLarge { return [:] }
            throw error
        }
    }

    /// Where the target declares what is gone here, and the change what it skips.
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

    /// What the change brings: what was tested against the target, else the head against where it began.
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

    /// How often the failing tests were seen to come out both ways.
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
