import Results
import TerminalText

/// A bundle as Markdown. Names and texts of the change can't become markup.
struct BundleMarkdown {
    let bundle: RunBundle

    func render() -> String {
        let mark = DataMark()
        var passage = facts()
        for (index, problem) in bundle.problems.enumerated() {
            passage += Self.text(of: problem, number: index + 1)
        }
        return "\(title())\(mark.meaning)\n\n\(mark.around(passage))\(ending())"
    }

    private func title() -> String {
        let title =
            bundle.verdict.map { "\(Wording.symbol($0)) \($0.title)" }
            ?? "\(Wording.symbol(StepStatus.running)) running"
        var text = "# \(title): \(MarkdownText.code(bundle.workflow)) run \(bundle.run), "
        text += "\(MarkdownText.inline(bundle.subject))\n\n"
        return text
    }

    private func facts() -> String {
        var text = "\(MarkdownText.inline(bundle.reason, limit: 700))\n\n"
        if let change = bundle.change {
            text += "- change \(MarkdownText.code(change.name)): \(MarkdownText.code(change.title))\n"
            text += "- head \(commit(change.head)), target \(MarkdownText.code(change.target)) at "
            text += commit(change.targetCommit) + "\n"
        }
        if let tested = bundle.testedCommit { text += "- tested commit \(commit(tested))\n" }
        if let counts = bundle.comparison { text += "- compared with \(Self.words(counts))\n" }
        if let fix = bundle.fix {
            text += "- fix \(MarkdownText.inline(FixSeries.State(rawValue: fix.state).title)): "
            text += "\(MarkdownText.inline(fix.reason, limit: 500))\n"
            if let command = fix.command { text += "- apply the fix: \(MarkdownText.code(command))\n" }
        }
        text += "- passed: \(MarkdownText.inline(bundle.passed, limit: 600))\n"
        return text
    }

    /// `run 3 of the target at 9c1d0e8f7a: 1 newly failing, 2 fixed`.
    static func words(_ counts: RunBundle.Counts) -> String {
        let parts = [
            (counts.newlyFailing, "newly failing"), (counts.stillFailing, "still failing"), (counts.fixed, "fixed"),
            (counts.added, "added"), (counts.removed, "removed"), (counts.renamed, "renamed"),
            (counts.newlySkipped, "newly skipped"), (counts.slower, "slower"),
        ].filter { $0.0 > 0 }.map { "\(Figures.grouped($0.0)) \($0.1)" }
        let findings = counts.newFindings > 0 ? [Figures.count(counts.newFindings, "new finding")] : []
        let all = parts + findings
        let place = "run \(counts.against) of the target, commit \(Wording.short(counts.commit))"
        return "\(place): \(all.isEmpty ? "no difference" : all.joined(separator: ", "))"
    }

    /// A problem's section.
    static func text(of problem: RunBundle.Problem, number: Int) -> String {
        var text = "\n## \(number). \(title(of: problem))\n"
        var facts: [String] = []
        if let file = problem.file {
            let place = file + (problem.line.map { ":\($0)" } ?? "") + (problem.column.map { ":\($0)" } ?? "")
            facts.append("at \(MarkdownText.code(place, limit: 500))")
        }
        if let step = problem.step, problem.kind != .step { facts.append("step \(MarkdownText.code(step))") }
        if let history = problem.history { facts.append(MarkdownText.inline(history)) }
        if !facts.isEmpty { text += "\n" + facts.joined(separator: ", ") + "\n" }
        if let message = problem.message { text += "\n" + block(message, "text") }
        if let alike = problem.alike { text += "\n\(words(alike))\n" }
        if let excerpt = problem.excerpt { text += "\nIt printed:\n\n" + block(excerpt, "text") }
        for hunk in problem.hunks ?? [] {
            text += "\nThe change at \(MarkdownText.code("\(hunk.file):\(hunk.line)", limit: 500)):\n\n"
            text += block(hunk.text, "diff")
        }
        if let suggestion = problem.suggestion { text += "\n→ \(MarkdownText.inline(suggestion, limit: 600))\n" }
        if let command = problem.reproduce { text += "\nReproduce: \(MarkdownText.code(command, limit: 1_000))\n" }
        return text
    }

    /// ``The same in 3 further tests: `a`, `b` and 1 more``.
    private static func words(_ alike: RunBundle.Alike) -> String {
        let names = alike.names.map { MarkdownText.code($0) }.joined(separator: ", ")
        let rest = alike.count - alike.names.count
        let more = rest > 0 && !alike.names.isEmpty ? " and \(rest) more" : ""
        return "The same in \(Figures.count(alike.count, "further test"))" + (names.isEmpty ? "" : ": \(names)\(more)")
    }

    private static func title(of problem: RunBundle.Problem) -> String {
        let name = MarkdownText.code(problem.name)
        let what =
            switch problem.kind {
            case .test:
                problem.standing == .knownFlaky
                    ? "\(Wording.symbol(Verdict.flaky)) test \(name)" : "\(Wording.symbol(Verdict.failed)) test \(name)"
            case .finding where problem.name == problem.severity.rawValue: problem.name
            case .finding: "\(problem.severity.rawValue) \(name)"
            case .step: "\(Wording.symbol(Verdict.failed)) step \(name)"
            case .conflict: "\(Wording.symbol(Verdict.conflict)) conflict in \(name)"
            case .integrity: "\(Wording.symbol(Verdict.needsApproval)) integrity: \(name)"
            case .removedTest: "removed test \(name)"
            case .newlySkippedTest: "newly skipped test \(name)"
            }
        let standing =
            switch problem.standing {
            case .newHere: " (new in this change)"
            case .alsoOnTarget: " (also on the target)"
            case .knownFlaky: " (flaky)"
            case .infrastructure: " (build box failure)"
            case .unknown: ""
            }
        return what + standing
    }

    private func ending() -> String {
        var text = "\nReproduce: \(MarkdownText.code(bundle.reproduce, limit: 1_000))\n"
        if let next = bundle.next { text += "\n\(next.advice): \(MarkdownText.code(next.command, limit: 1_000))\n" }
        if !bundle.leftOut.isEmpty {
            text += "\nOmitted for length:\n\n"
            for omission in bundle.leftOut { text += "- \(omission.what): \(MarkdownText.code(omission.command))\n" }
        }
        return text
    }

    /// The texts are already cleaned and cut. Only the fence must be long enough.
    private static func block(_ text: String, _ language: String) -> String {
        var (longest, run) = (0, 0)
        for byte in text.utf8 {
            run = byte == UInt8(ascii: "`") ? run + 1 : 0
            longest = max(longest, run)
        }
        let fence = String(repeating: "`", count: max(3, longest + 1))
        return "\(fence)\(language)\n\(text)\n\(fence)\n"
    }

    /// A commit id, or an empty text if it is not hexadecimal.
    private func commit(_ id: String) -> String {
        id.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || ($0 >= 0x61 && $0 <= 0x66) } ? "`\(Wording.short(id))`" : "?"
    }
}
