import Results
import TerminalText
import Pipeline

extension BundleDraft {
    /// Collects the contents of a run's report, tests and logs.
    public init(_ document: ReportDocument, _ evidence: BundleEvidence = BundleEvidence()) {
        let facts = ReportFacts(document)
        let report = document.report
        let verdict = evidence.isRunning ? nil : report.verdict
        var next: RunBundle.Next?
        if verdict != nil, let command = facts.nextCommand { next = .init(advice: facts.advice, command: command) }
        // A command that is cut would be wrong.
        let isShort = report.reproduce.utf8.count <= 600
        head = RunBundle(
            run: report.id, repository: Self.name(report.repository, 200), workflow: Self.name(report.workflow, 200),
            subject: Self.name(facts.subject, 300),
            change: report.change.map {
                .init(
                    name: Self.name($0.name, 200), title: Self.name($0.title, 200), head: Self.name($0.head, 64),
                    target: Self.name($0.target, 200), targetCommit: Self.name($0.targetCommit, 64))
            }, testedCommit: report.testedCommit.map { Self.name($0, 64) }, verdict: verdict,
            reason: Self.name(report.reason, 600), exitCode: verdict?.exitCode, problems: [],
            comparison: report.comparison.map(RunBundle.Counts.init),
            fix: report.fixes.map { RunBundle.FixFacts($0, of: report.id) }, passed: Self.passed(facts),
            reproduce: isShort ? Self.name(report.reproduce, 1_200) : "pipectl rerun \(report.id)", next: next,
            leftOut: [])
        let collector = BundleProblems(document: document, facts: facts, evidence: evidence)
        items = collector.all()
        // Each costs time to render, and nobody reads the two-hundredth.
        let order = items.indices.sorted { (items[$0].rank, $0) < (items[$1].rank, $1) }
        var counts: [String: (count: Int, command: String)] = [:]
        for index in order.dropFirst(Self.itemLimit) {
            counts[items[index].kind, default: (0, items[index].command)].count += 1
        }
        head.leftOut = counts.sorted { $0.key < $1.key }.map { kind, value in
            .init(what: "\(value.count) further \(kind)\(value.count == 1 ? "" : "s")", command: value.command)
        }
        items = order.prefix(Self.itemLimit).map { items[$0] }
    }

    private static let itemLimit = 200

    /// A name on one line, at most `limit` bytes of it.
    static func name(_ text: String, _ limit: Int = 300) -> String {
        let name = TerminalText.name(text, limit: limit)
        return WholeText.part(of: name, bytes: limit) ?? ""
    }

    /// `214 tests passed, 3 skipped; steps build, lint`.
    private static func passed(_ facts: ReportFacts) -> String {
        let counts = facts.report.testCounts
        var parts: [String] = []
        if counts.passed > 0 { parts.append("\(Figures.count(counts.passed, "test"))") }
        let steps = facts.report.steps.filter { $0.status == .passed }
        if !steps.isEmpty {
            let names = steps.prefix(8).map { name($0.name, 60) }.joined(separator: ", ")
            let more = steps.count > 8 ? " and \(steps.count - 8) more" : ""
            parts.append("\(steps.count == 1 ? "step" : "steps") \(names)\(more)")
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: "; ")
    }
}

extension RunBundle.FixFacts {
    init(_ series: FixSeries, of run: RunID) {
        let chosen = series.chosen
        self.init(
            state: BundleDraft.name(series.state.rawValue, 40), reason: BundleDraft.name(series.reason, 400),
            attempts: series.attempts.count, run: chosen?.check,
            commit: chosen?.commit.map { BundleDraft.name($0, 64) },
            command: chosen == nil || series.state == .pushed ? nil : FixWords.command(run))
    }
}

extension RunBundle.Counts {
    init(_ comparison: Comparison) {
        self.init(
            against: comparison.against, commit: comparison.commit, newlyFailing: comparison.newlyFailing.count,
            stillFailing: comparison.alsoFailing.count, fixed: comparison.fixed?.count ?? 0,
            added: comparison.added?.count ?? 0, removed: comparison.vanished.count,
            renamed: comparison.renamed?.count ?? 0, newlySkipped: comparison.newlySkipped.count,
            slower: comparison.slower?.count ?? 0, newFindings: comparison.newFindings?.count ?? 0)
    }
}
