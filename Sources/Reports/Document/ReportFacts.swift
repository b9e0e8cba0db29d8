import Results
import TerminalText
import Pipeline

/// The facts about a report that all formats show: sorted, joined and counted once.
struct ReportFacts {
    /// A test with all its tries.
    struct Test {
        /// The last try, which decides.
        var result: TestResult
        /// The number of tries.
        var tries: Int
        /// The message of the last failed try before the final one.
        var earlierFailure: String?
        var standing: Standing

        /// Whether it failed first and then passed.
        var isFlaky: Bool { earlierFailure != nil && !result.status.isFailure }
    }

    /// How a failed test compares with the same test on the target.
    enum Standing { case newlyFailing, unknown, alsoOnTarget }

    let report: Report
    /// In the order of the result files.
    let tests: [Test]
    /// First those that fail only in this run, then those with nothing to compare with, then those that also fail on
    /// the target.
    let failing: [Test]
    let flaky: [Test]
    /// Steps that ran and did not succeed. Those that decide the verdict come first.
    let failedSteps: [StepRecord]

    init(_ document: ReportDocument) {
        report = document.report
        let alsoFailing = Set(report.comparison?.alsoFailing ?? [])
        let newlyFailing = Set(report.comparison?.newlyFailing ?? [])
        var tests: [Test] = []
        tests.reserveCapacity(document.tests.count)
        var places: [String: Int] = [:]
        let hasTries = document.tests.contains { $0.attempt > 1 }
        let isCompared = !alsoFailing.isEmpty || !newlyFailing.isEmpty
        for result in document.tests {
            // Most reports of many tests need none of this.
            guard hasTries || (isCompared && result.status.isFailure) else {
                tests.append(Test(result: result, tries: 1, standing: .unknown))
                continue
            }
            let id = result.id
            // If the number does not increase, the same id is the same test in another step, not another try.
            if result.attempt > 1, let place = places[id], result.attempt > tests[place].result.attempt {
                if tests[place].result.status.isFailure {
                    tests[place].earlierFailure = tests[place].result.message ?? "failed"
                }
                tests[place].result = result
                tests[place].tries += 1
                continue
            }
            places[id] = tests.count
            var standing = Standing.unknown
            if newlyFailing.contains(id) { standing = .newlyFailing }
            if alsoFailing.contains(id) { standing = .alsoOnTarget }
            tests.append(Test(result: result, tries: 1, standing: standing))
        }
        self.tests = tests
        let failing = tests.filter { $0.result.status.isFailure }
        self.failing = [.newlyFailing, .unknown, .alsoOnTarget].flatMap { standing in
            failing.filter { $0.standing == standing }
        }
        flaky = tests.filter(\.isFlaky)
        let failedSteps = report.steps.filter(\.status.isFailure)
        self.failedSteps = failedSteps.filter { !$0.allowsFailure } + failedSteps.filter(\.allowsFailure)
    }

    /// What the tested commit of a change is. If the head contains the target, nothing had to be merged.
    static func whatIsTested(_ report: Report) -> String {
        report.testedCommit == report.change?.head
            ? "the head, which already contains the target" : "the head merged into the target"
    }

    /// The ref of the run on one line, safe to show. A working tree has no ref.
    static func ref(_ report: Report) -> String {
        report.ref.isEmpty ? "working tree" : TerminalText.name(report.ref)
    }

    /// The labels of a change that are shown.
    static func labels(_ change: Change) -> [String] { Array(change.labels.prefix(20)) }

    /// `change 42 into main`, `tag v1.2`, `branch main`.
    var subject: String {
        if let change = report.change {
            return "change \(TerminalText.name(change.name)) into \(TerminalText.name(change.target))"
        }
        let ref = ReportFacts.ref(report)
        if ref.hasPrefix("refs/tags/") { return "tag \(ref.dropFirst(10))" }
        if ref.hasPrefix("refs/heads/") { return "branch \(ref.dropFirst(11))" }
        return ref
    }

    /// `on a pull request`: what started the run.
    var event: String {
        switch report.event {
        case .pullRequest: "pull request"
        case .merge: "merge"
        case .push: "push"
        case .tag: "tag"
        case .schedule: "schedule"
        case .manual: "by hand"
        }
    }

    /// What the workspace started from; nil for a fresh workspace without a known reason.
    var base: String? {
        guard let base = report.base else {
            return report.cold.map { "fresh: \(TerminalText.name($0, limit: 300))" }
        }
        let files = base.changedFiles == 1 ? "1 file differs" : "\(base.changedFiles) files differ"
        return "warm, from run \(base.run) at \(Wording.short(base.commit)); \(files)"
    }

    /// `run 7, as attempt 3 of run 5, in the retained workspace of run 7`; nil for a first run.
    var repeats: String? {
        report.rerunOf.map { original in
            "run \(original)" + (report.repetition.map { ", as attempt \($0.number) of run \($0.origin)" } ?? "")
                + (report.resumed.map { ", in the retained workspace of run \($0)" } ?? "")
        }
    }

    /// Who asked for the run in a browser or by the API, safe to show; nil for other runs.
    var askedBy: String? { report.askedBy.map { TerminalText.name($0, limit: 200) } }

    /// The answers to requests for approval, one line each, safe to show.
    var approvals: [String] {
        (report.approvals ?? []).map { approval in
            let subject = approval.step.map { "step \"\($0)\" " } ?? ""
            return TerminalText.name("\(subject)\(approval.inWords)", limit: 1_500)
        }
    }

    /// The command to type next; nil if nothing is to be done.
    var nextCommand: String? {
        let id = report.id
        switch report.verdict {
        case .passed, .notApplicable: return nil
        case .failed where report.fixes?.state == .offered: return FixWords.command(id)
        case .failed:
            guard let step = failedSteps.first else { return "pipectl show \(id)" }
            return Self.logsCommand(id, step.name)
        // In the end no step failed, so there is nothing to rerun.
        case .flaky: return shownFlaky.map { "pipectl history \($0.shellWord)" } ?? "pipectl rerun \(id)"
        case .infrastructure where !missingSecrets.isEmpty:
            let commands = missingSecrets.map { "pipectl secrets set \($0)" }
            return (commands + ["pipectl rerun \(id)"]).joined(separator: " && ")
        case .infrastructure: return "pipectl doctor"
        case .superseded: return "pipectl show \(report.supersededBy ?? id)"
        case .cancelled: return "pipectl rerun \(id)"
        case .needsApproval: return Approval.command(id)
        case .conflict:
            guard let change = report.change else { return "pipectl show \(id)" }
            return "git merge \(Wording.short(change.targetCommit))"
        case .definitionError: return "pipectl validate"
        }
    }

    /// The secrets that are not set, if the run ended because of that.
    private var missingSecrets: [String] {
        var seen: Set<String> = []
        return ([report.reason] + failedSteps.compactMap(\.reason)).flatMap(Self.missingSecrets(in:))
            .filter { seen.insert($0).inserted }
    }

    /// The secrets that a reason asks for.
    static func missingSecrets(in reason: String) -> [String] {
        reason.matches(of: /`pipectl secrets set ([A-Z][A-Z0-9_]*)`/).map { String($0.output.1) }
    }

    /// The first flaky test whose name can be typed as it is shown.
    private var shownFlaky: String? {
        flaky.first.map(\.result.id).flatMap {
            TerminalText.name($0, limit: 400) == $0 && !$0.hasPrefix("-") ? $0 : nil
        }
    }

    /// The command that prints a step's log. A name that can't be shown unchanged can't be typed either.
    static func logsCommand(_ id: RunID, _ step: String) -> String {
        let name = TerminalText.name(step)
        return "pipectl logs \(id) \(name == step ? name.shellWord : "--failed")"
    }

    /// What to do next, in words.
    var advice: String {
        switch report.verdict {
        case .failed where report.fixes?.state == .offered: "Review the fix that passed, then apply it"
        case .failed: "Read the whole log"
        case .flaky: shownFlaky == nil ? "Run it again" : "See its earlier results"
        case .infrastructure where !missingSecrets.isEmpty: "Set what is missing, then run it again"
        case .infrastructure: "Check the build box"
        case .superseded: "See the newer run"
        case .cancelled: "Run it again"
        case .needsApproval: "Review it, then approve it (or --reject it)"
        case .conflict: "Merge the target into the change and resolve it"
        case .definitionError: "Check the workflow definition"
        case .passed, .notApplicable: ""
        }
    }

    /// The differences from the target that should be looked at: a title, and a line for each test. The lines are not
    /// yet safe to show.
    var differences: [(title: String, kind: String, lines: [String])] {
        guard let comparison = report.comparison else { return [] }
        let base = "run \(comparison.against) of the target, commit \(Wording.short(comparison.commit))"
        return [
            (title: "Removed tests: they ran in \(base)", kind: "removed test", lines: comparison.vanished),
            ("Newly skipped tests: they ran in \(base)", "newly skipped test", comparison.newlySkipped),
            ("Renamed tests", "renamed test", (comparison.renamed ?? []).map { "\($0.from) → \($0.to)" }),
            ("Slower tests", "slower test", (comparison.slower ?? []).map { "\($0.test): \($0.inWords)" }),
            ("Fixed tests: they failed in \(base)", "fixed test", comparison.fixed ?? []),
        ].filter { !$0.lines.isEmpty }
    }

    /// Where a finding points; nil if its message contains the location, as compilers' messages do.
    static func place(of finding: Finding) -> String? {
        guard let file = finding.file, !finding.message.hasPrefix(file) else { return nil }
        return place(file, finding.line)
    }

    /// `Package.swift:12`, with invisible characters made visible.
    static func place(_ file: String?, _ line: Int?) -> String? {
        guard let file else { return nil }
        return TerminalText.name(file, limit: 400) + (line.map { ":\($0)" } ?? "")
    }
}
