import Results
import TerminalText
import Pipeline

/// Turns the contents of a report into the problems of a bundle, each with versions from short to full.
struct BundleProblems {
    let document: ReportDocument
    let facts: ReportFacts
    let evidence: BundleEvidence
    private let nearest: NearestHunks
    /// The step of each test, by the test's index in the report.
    private let stepOfTest: [String: String]

    init(document: ReportDocument, facts: ReportFacts, evidence: BundleEvidence) {
        self.document = document
        self.facts = facts
        self.evidence = evidence
        nearest = NearestHunks(evidence.hunks)
        var steps: [String: String] = [:]
        for step in document.report.steps {
            for test in step.tests?.of(document.tests) ?? [] where test.status.isFailure { steps[test.id] = step.name }
        }
        stepOfTest = steps
    }

    private var report: Report { document.report }
    private var id: RunID { report.id }

    func all() -> [BundleDraft.Item] {
        let tests = failingTests()
        let findings = self.findings()
        return conflicts() + tests + findings + steps() + flakyTests() + comparison()
    }

    // MARK: Kinds

    private func conflicts() -> [BundleDraft.Item] {
        report.conflicts.map { conflict in
            var problem = RunBundle.Problem(kind: .conflict, standing: .newHere, name: name(conflict.path))
            problem.file = name(conflict.path, 500)
            problem.line = evidence.conflictLines[conflict.path]
            problem.message = name(conflict.kind)
            return item(problem, rank: 0, kind: "conflicting file", command: "pipectl show \(id)", suite: "")
        }
    }

    /// Tests that failed at the same line with the same message are one problem: they probably all call a broken
    /// function, and two hundred repetitions would hide the other problems.
    private func failingTests() -> [BundleDraft.Item] {
        var groups: [[ReportFacts.Test]] = []
        var places: [SimilarFailures: Int] = [:]
        for test in facts.failing {
            // Tests that are known to be flaky are not grouped.
            let isFlaky = evidence.flaky[test.result.id] != nil
            guard !isFlaky, let key = SimilarFailures(test, step: stepOfTest[test.result.id]) else {
                groups.append([test])
                continue
            }
            if let place = places[key] {
                groups[place].append(test)
            } else {
                places[key] = groups.count
                groups.append([test])
            }
        }
        return groups.map { group in
            let test = group[0]
            let result = test.result
            let step = stepOfTest[result.id]
            var standing = RunBundle.Problem.Standing.unknown
            var rank = 10
            switch test.standing {
            case .newlyFailing: standing = .newHere
            case .alsoOnTarget: (standing, rank) = (.alsoOnTarget, 30)
            case .unknown: break
            }
            if standing != .alsoOnTarget, evidence.flaky[result.id] != nil { (standing, rank) = (.knownFlaky, 12) }
            if isAllowed(step) { rank += 30 }
            var problem = self.problem(of: result, step, standing)
            problem.reproduce = reproduction(of: step, test: result)
            let others = group.dropFirst()
            if !others.isEmpty {
                problem.alike = .init(count: others.count, names: others.prefix(40).map { name($0.result.id, 400) })
            }
            return item(
                problem, rank: rank, kind: "failing test", command: "pipectl report \(id) --format html",
                suite: result.suite, message: result.message, excerpt: excerpt(of: result, step))
        }
    }

    private func flakyTests() -> [BundleDraft.Item] {
        facts.flaky.map { test in
            // The try that failed has the location.
            let failed = document.tests.last { $0.id == test.result.id && $0.status.isFailure } ?? test.result
            var problem = self.problem(of: failed, stepOfTest[failed.id], .knownFlaky)
            problem.severity = .warning
            problem.history = problem.history ?? "failed and passed on the same tree, \(test.tries) attempts"
            return item(
                problem, rank: 40, kind: "flaky test", command: "pipectl report \(id) --format html",
                suite: failed.suite, message: test.earlierFailure, excerpt: excerpt(of: failed, problem.step))
        }
    }

    private func problem(
        of result: TestResult, _ step: String?, _ standing: RunBundle.Problem.Standing
    ) -> RunBundle.Problem {
        var problem = RunBundle.Problem(kind: .test, standing: standing, name: name(result.id, 400))
        problem.step = step.map { name($0) }
        let place = evidence.places[result.id]
        problem.file = (result.file ?? place?.file).map { name($0, 500) }
        problem.line = result.file == nil ? place?.line : result.line
        problem.history = evidence.flaky[result.id].map { name($0) }
        return problem
    }

    private func findings() -> [BundleDraft.Item] {
        let new = report.comparison?.newFindings.map(Set.init)
        return report.findings.map { finding in
            var standing = RunBundle.Problem.Standing.unknown
            // Findings about the run itself are not compared with the target's.
            if let new, finding.step != nil {
                standing = new.contains(finding.fingerprint) ? .newHere : .alsoOnTarget
            }
            let isIntegrity = finding.rule.hasPrefix("integrity")
            // A rule is held against added lines only.
            if isIntegrity || finding.rule == Report.brokenRule { standing = .newHere }
            var problem = RunBundle.Problem(
                kind: isIntegrity ? .integrity : .finding, standing: standing, severity: finding.severity,
                name: name(finding.rule))
            problem.step = finding.step.map { name($0) }
            problem.file = finding.file.map { name($0, 500) }
            (problem.line, problem.column) = (finding.line, finding.column)
            problem.suggestion = finding.suggestion.map { name($0, 500) }
            if finding.severity == .error { problem.reproduce = reproduction(of: finding.step) }
            var rank =
                switch finding.severity {
                case .error: report.verdict == .definitionError ? 1 : 11
                case .warning: 50
                case .note: 60
                }
            if isIntegrity { rank = 13 }
            // The location of the crash says more than the test that was running.
            if finding.rule == "crash", finding.severity == .error, finding.file != nil { rank = 9 }
            // The compiler reported the same problem.
            if finding.rule == "workflow-compiler" { rank = 21 }
            // A crash or a time-out leaves an incomplete result file, but that is not the problem itself.
            if finding.rule == "result-file" { rank = max(rank, 22) }
            if standing == .alsoOnTarget { rank += 20 }
            if isAllowed(finding.step) { rank += 30 }
            return item(
                problem, rank: rank, kind: isIntegrity ? "integrity finding" : "finding",
                command: "pipectl report \(id) --format html", suite: "", message: finding.message,
                excerpt: finding.excerpt)
        }
    }

    private func steps() -> [BundleDraft.Item] {
        let explained = Set(stepOfTest.values).union(
            report.findings.filter { $0.severity == .error && $0.file != nil }.compactMap(\.step))
        return facts.failedSteps.map { step in
            let isInfrastructure = step.status == .infrastructure
            var problem = RunBundle.Problem(
                kind: .step, standing: isInfrastructure ? .infrastructure : .unknown, name: name(step.name))
            problem.reproduce = isInfrastructure ? nil : reproduction(of: step.name)
            if let secret = ReportFacts.missingSecrets(in: step.reason ?? "").first {
                problem.suggestion = "set it with `pipectl secrets set \(secret)`, then `pipectl rerun \(id)`"
            } else if isInfrastructure {
                problem.suggestion = "the build box failed, not the change: run `pipectl doctor`, then rerun"
            }
            var rank = isInfrastructure ? 2 : explained.contains(step.name) ? 20 : 12
            if step.allowsFailure { rank += 30 }
            let reason = [step.reason ?? Wording.title(step.status), "command: \(step.command)"]
                .joined(separator: "\n")
            return item(
                problem, rank: rank, kind: "failed step", command: ReportFacts.logsCommand(id, step.name), suite: "",
                message: reason, excerpt: explained.contains(step.name) ? nil : logTail(of: step), fromEnd: true,
                isExplained: explained.contains(step.name))
        }
    }

    private func comparison() -> [BundleDraft.Item] {
        guard let comparison = report.comparison else { return [] }
        let against = "run \(comparison.against) of the target, commit \(Wording.short(comparison.commit))"
        func items(
            _ kind: RunBundle.Problem.Kind, _ ids: [String], rank: Int, word: String, message: (String) -> String
        ) -> [BundleDraft.Item] {
            ids.map { test in
                var problem = RunBundle.Problem(
                    kind: kind, standing: .newHere, severity: .warning, name: name(test, 400))
                if let place = evidence.places[test] {
                    (problem.file, problem.line) = (name(place.file, 500), place.line)
                }
                return item(
                    problem, rank: rank, kind: word, command: "pipectl compare \(id) \(comparison.against)", suite: "",
                    message: message(test))
            }
        }
        // A slower test is counted in the comparison, but it is not a problem: the verdict does not depend on it.
        return items(.removedTest, comparison.vanished, rank: 15, word: "removed test") { _ in
            "It ran in \(against) and does not exist here."
        }
            + items(.newlySkippedTest, comparison.newlySkipped, rank: 16, word: "newly skipped test") { _ in
                "It ran in \(against) and is skipped here."
            }
    }

    // MARK: Parts

    /// The versions of a problem: alone; with its first lines; with the nearest part of the change; with its output;
    /// with all of that in full length.
    private func item(
        _ problem: RunBundle.Problem, rank: Int, kind: String, command: String, suite: String, message: String? = nil,
        excerpt: String? = nil, fromEnd: Bool = false, isExplained: Bool = false
    ) -> BundleDraft.Item {
        func shown(_ text: String?, _ lines: Int, _ bytes: Int) -> String? {
            text.flatMap { WholeText.head($0, lines: lines, bytes: bytes) }
        }
        func printed(_ lines: Int, _ bytes: Int) -> String? {
            guard let excerpt = excerpt.flatMap({ Repetition.removed(from: $0, said: message) }) else { return nil }
            return fromEnd
                ? WholeText.tail(excerpt, lines: lines, bytes: bytes)
                : WholeText.head(excerpt, lines: lines, bytes: bytes)
        }
        // A problem that existed before the change does not come from it, and a warning names its own location.
        let isOwn =
            problem.standing != .alsoOnTarget && problem.standing != .infrastructure
            && (evidence.isRunning || [.failed, .passed, .flaky, .needsApproval].contains(report.verdict))
        let hasPlace = problem.file != nil || problem.severity == .error && !isExplained
        func hunks(_ count: Int, _ lines: Int) -> [RunBundle.Hunk]? {
            guard isOwn, hasPlace else { return nil }
            let found = nearest.near(
                file: problem.file, line: problem.line, suite: suite,
                text: (message ?? "") + "\n" + String((excerpt ?? "").suffix(8_000)), count: count, lines: lines)
            return found.isEmpty
                ? nil
                : found.map { hunk in
                    var hunk = hunk
                    hunk.file = name(hunk.file, 500)
                    hunk.text = WholeText.head(hunk.text, lines: lines, bytes: lines * 200) ?? ""
                    return hunk
                }
        }
        var short = problem
        short.reproduce = nil
        short.alike?.names = []
        short.message = short.message ?? shown(message, 1, 240)
        var brief = problem
        brief.alike?.names = Array((problem.alike?.names ?? []).prefix(3))
        brief.message = brief.message ?? shown(message, 6, 800)
        var versions = [short, brief]
        if problem.severity != .note {
            var placed = brief
            placed.hunks = hunks(1, 14)
            placed.excerpt = printed(6, 600)
            var ample = placed
            ample.message = problem.message ?? shown(message, 12, 2_000)
            ample.excerpt = printed(14, 1_600)
            var full = ample
            full.message = problem.message ?? shown(message, 30, 5_000)
            full.excerpt = printed(40, 5_000)
            full.hunks = hunks(3, 40)
            full.alike = problem.alike
            versions += [placed, ample, full]
        }
        var distinct: [RunBundle.Problem] = []
        for version in versions where distinct.last != version { distinct.append(version) }
        return BundleDraft.Item(rank: rank, kind: kind, command: command, versions: distinct)
    }

    private func name(_ text: String, _ limit: Int = 300) -> String { BundleDraft.name(text, limit) }

    private func isAllowed(_ step: String?) -> Bool {
        step.map { step in report.steps.contains { $0.name == step && $0.allowsFailure } } ?? false
    }

    /// The run's own command, limited to this step, and to this test if the step can select tests.
    private func reproduction(of step: String?, test: TestResult? = nil) -> String? {
        guard let step, TerminalText.name(step) == step, !report.reproduce.hasPrefix("pipectl rerun ") else {
            return nil
        }
        // A run of some steps is repeated with one of them only if that has tests: others may act.
        let parts = base.split(separator: " --step ", maxSplits: 1)
        guard let whole = parts.first, parts.count == 1 || test != nil else { return nil }
        let command = "\(whole) --step \(step.shellWord)"
        var narrowed: String?
        if let test, report.steps.contains(where: { $0.name == step && $0.runsNamedTests == true }),
            TerminalText.name(test.id, limit: 400) == test.id, !test.id.hasPrefix("-")
        {
            // A Swift function is found without its parentheses, which a shell would interpret.
            let id = test.id.hasSuffix("()") ? String(test.id.dropLast(2)) : test.id
            narrowed = command + " --tests \(id.shellWord)"
        }
        return [narrowed, command].compactMap(\.self).first { $0.utf8.count <= 800 }.map { name($0, 1_600) }
    }

    /// The command that repeats the run. If the head already contains the target, a clone has exactly the tested commit
    /// checked out, so the same command also tests a corrected working tree.
    private var base: String {
        guard let change = report.change, report.testedCommit == report.head, report.head == change.head else {
            return report.reproduce
        }
        return report.reproduce.replacing(" --change \(change.name.shellQuoted)", with: "", maxReplacements: 1)
    }

    /// The test's output; otherwise the step's log where it first names the test.
    private func excerpt(of result: TestResult, _ step: String?) -> String? {
        if let details = result.details, details != result.message { return details }
        guard let step = report.steps.first(where: { $0.name == step }), let log = log(of: step) else { return nil }
        let bare = String(result.name.prefix { $0 != "(" })
        return bare.count < 4 ? nil : LogExcerpt.mention(of: bare, in: log.bytes, lines: 12)
    }

    private func logTail(of step: StepRecord) -> String? {
        log(of: step).map { String(decoding: LogExcerpt.tail(of: $0.bytes, lines: 60), as: UTF8.self) }
    }

    private func log(of step: StepRecord) -> ReportLog? {
        (step.attempts.last?.log?.file).flatMap { document.logs($0) }
    }
}
