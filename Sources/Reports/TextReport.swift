import Results
import TerminalText
import Pipeline

/// A report as text, for a terminal or a file.
struct TextReport {
    let document: ReportDocument
    let options: RenderOptions
    private let facts: ReportFacts
    private var output = ""

    init(document: ReportDocument, options: RenderOptions) {
        self.document = document
        self.options = options
        facts = ReportFacts(document)
    }

    private var report: Report { document.report }

    func render() -> String {
        var copy = self
        copy.write()
        return copy.output
    }

    private mutating func write() {
        verdict()
        subject()
        failingTests()
        comparison()
        fixes()
        conflicts()
        findings()
        steps()
        logs()
        artifacts()
        end()
    }

    // MARK: Sections

    private mutating func verdict() {
        let name = "\(Wording.symbol(report.verdict)) \(report.verdict.title.uppercased())"
        let workflow = TerminalText.name(report.workflow)
        line(paint(name, verdictColour, .bold) + "  \(workflow), run \(report.id): " + facts.subject)
        wrapped(TerminalText.clean(report.reason.utf8, colours: false), indent: 2)
    }

    private mutating func subject() {
        line("")
        if let change = report.change {
            let title = "\(TerminalText.name(change.name)): \(TerminalText.name(change.title))"
            row("change", "\(title) (\(TerminalText.name(change.author))\(change.isDraft ? ", draft" : ""))")
            let labels = ReportFacts.labels(change).map { TerminalText.name($0) }
            if !labels.isEmpty { row("labels", labels.joined(separator: ", ")) }
            row("head", Wording.short(change.head))
            row("target", "\(TerminalText.name(change.target)) at \(Wording.short(change.targetCommit))")
            let tested = report.testedCommit.map { "\(Wording.short($0)), \(ReportFacts.whatIsTested(report))" }
            row("tested", tested ?? "nothing: not merged")
        } else {
            row("ref", ReportFacts.ref(report))
            row("commit", Wording.short(report.testedCommit ?? report.head))
        }
        for merged in report.mergedChanges.prefix(10) {
            let how = "(\(merged.recognition.rawValue)) as \(Wording.short(merged.commit))"
            row("landed", "change \(TerminalText.name(merged.name)) \(how)")
        }
        for (key, value) in report.parameters.sorted(by: { $0.key < $1.key }) {
            row("parameter", "\(TerminalText.name(key))=\(TerminalText.name(value))")
        }
        if let trust = report.trust { row("trust", trust.rawValue) }
        if let base = facts.base { row("workspace", base) }
        for approval in facts.approvals { row("approval", approval) }
        let start = report.startedAt ?? report.createdAt
        row("when", "\(Figures.dateAndTime(start)), took \(Figures.duration(from: start, to: report.endedAt))")
        let box = report.box
        let host = "\(TerminalText.name(box.host)) (\(TerminalText.name(box.system)))"
        row("machine", "\(host), pipectl \(TerminalText.name(box.pipectlVersion))")
        if let machine = report.machine { row("steps on", TerminalText.name(machine)) }
        if report.testCounts.total > 0 { row("tests", Wording.counts(report.testCounts)) }
        if report.attempt > 1 { row("attempt", "\(report.attempt)") }
        if let repeats = facts.repeats { row("repeats", repeats) }
        if let person = facts.askedBy { row("asked by", person) }
        if let fix = report.fix { row("fix", fix.role.inWords) }
    }

    private mutating func failingTests() {
        guard !facts.failing.isEmpty || !facts.flaky.isEmpty else { return }
        if !facts.failing.isEmpty { heading("Failing tests (\(Figures.grouped(facts.failing.count)))") }
        for test in facts.failing.prefix(options.failureLimit) {
            let result = test.result
            var mark = ""
            switch test.standing {
            case .newlyFailing: mark = "  [new in this change]"
            case .alsoOnTarget: mark = "  [also fails on the target]"
            case .unknown: break
            }
            if test.tries > 1 { mark += "  [\(test.tries) tries]" }
            line(
                paint("  \(Wording.symbol(Verdict.failed)) ", .red)
                    + paint(TerminalText.name(result.id, limit: 400), .bold) + paint(mark, .yellow))
            if let place = ReportFacts.place(result.file, result.line) { line("    " + paint(place, .cyan)) }
            if let message = result.message { block(message, indent: 4, lines: 12) }
            if let details = result.details, details != result.message { block(details, indent: 6, lines: 12) }
        }
        let more = facts.failing.count - options.failureLimit
        if more > 0 { line("  … and \(Figures.grouped(more)) more; all: pipectl report \(report.id) --format html") }
        guard !facts.flaky.isEmpty else { return }
        heading("Flaky tests (\(Figures.grouped(facts.flaky.count))): failed, then passed on the same tree")
        for test in facts.flaky.prefix(options.failureLimit) {
            line(
                paint("  \(Wording.symbol(Verdict.flaky)) ", .yellow) + TerminalText.name(test.result.id, limit: 400)
                    + "  (\(test.tries) attempts)")
            if let message = test.earlierFailure { block(message, indent: 4, lines: 3) }
        }
    }

    private mutating func comparison() {
        for difference in facts.differences {
            heading("\(difference.title) (\(Figures.grouped(difference.lines.count)))")
            for one in difference.lines.prefix(20) { line("  – " + TerminalText.name(one, limit: 400)) }
            if difference.lines.count > 20 {
                line("  … and \(Figures.grouped(difference.lines.count - 20)) more: pipectl compare \(report.id)")
            }
        }
    }

    private mutating func fixes() {
        guard let series = report.fixes else { return }
        heading("Fix")
        for text in FixWords.lines(series, of: report.id) { line("  " + text) }
    }

    private mutating func conflicts() {
        guard !report.conflicts.isEmpty else { return }
        heading("Conflicts (\(Figures.count(report.conflicts.count, "file")))")
        for conflict in report.conflicts.prefix(200) {
            line("  ⑂ \(TerminalText.name(conflict.path, limit: 400))  (\(TerminalText.name(conflict.kind)))")
        }
        if report.conflicts.count > 200 { line("  … and \(Figures.grouped(report.conflicts.count - 200)) more") }
    }

    private mutating func findings() {
        guard !report.findings.isEmpty else { return }
        heading("Findings (\(Figures.grouped(report.findings.count)))")
        for finding in report.findings.prefix(100) {
            let colour: Colour = finding.severity == .error ? .red : finding.severity == .warning ? .yellow : .plain
            let place = ReportFacts.place(of: finding).map { "\($0): " } ?? ""
            let lines = cleaned(finding.message)
            line("  " + paint(finding.severity.rawValue, colour) + ": \(place)\(lines.first ?? "")")
            for more in lines.dropFirst().prefix(60) { line("    " + more) }
            if lines.count > 61 { line("    … \(Figures.count(lines.count - 61, "more line"))") }
            if let suggestion = finding.suggestion { block("→ " + suggestion, indent: 4, lines: 4) }
        }
        if report.findings.count > 100 { line("  … and \(Figures.grouped(report.findings.count - 100)) more") }
    }

    private mutating func steps() {
        guard !report.steps.isEmpty else { return }
        heading("Steps (\(Figures.grouped(report.steps.count)))")
        let names = report.steps.map { TerminalText.name($0.name, limit: 60) }
        let nameWidth = min(names.map(\.count).max() ?? 0, max(12, options.width - 50))
        for (step, name) in zip(report.steps, names) {
            let colour = Colour(rawValue: Wording.colour(step.status)) ?? .plain
            let padded = name + String(repeating: " ", count: max(0, nameWidth - name.count))
            let state = Wording.title(step.status)
            var text = "  " + paint(Wording.symbol(step.status), colour) + " \(padded)  "
            text += paint(state, colour) + String(repeating: " ", count: max(0, 14 - state.count))
            let time = Wording.proof(step) ?? step.duration.map(Figures.duration) ?? ""
            text += String(repeating: " ", count: max(0, 8 - time.count)) + time
            if step.attempts.count > 1 { text += "  \(step.attempts.count) attempts" }
            if let counts = step.testCounts, counts.total > 0 { text += "  " + Wording.counts(counts) }
            if let machine = step.attempts.last?.machine { text += "  on \(TerminalText.name(machine))" }
            if step.allowsFailure && step.status.isFailure { text += "  (may fail)" }
            line(text)
            if let reason = step.reason { block(reason, indent: 6, lines: 3) }
        }
    }

    private mutating func logs() {
        guard options.logTailLines > 0 else { return }
        for step in facts.failedSteps.prefix(5) {
            guard let file = step.attempts.last?.log?.file, let log = document.logs(file) else { continue }
            let tail = LogExcerpt.tail(of: log.bytes, lines: options.logTailLines)
            guard !tail.isEmpty else { continue }
            heading("Last lines of \"\(TerminalText.name(step.name))\"")
            let text = TerminalText.clean(tail, colours: options.colour, lineLimit: 500)
            for part in text.split(separator: "\n", omittingEmptySubsequences: false) { line("  │ " + part) }
        }
    }

    private mutating func artifacts() {
        guard !report.artifacts.isEmpty else { return }
        heading("Artifacts (\(Figures.grouped(report.artifacts.count)))")
        for artifact in report.artifacts.prefix(100) {
            let path = TerminalText.name(artifact.path, limit: 400)
            line("  \(path)  \(Figures.size(artifact.bytes))  sha256 \(TerminalText.name(artifact.sha256))")
        }
        if report.artifacts.count > 100 { line("  … and \(Figures.grouped(report.artifacts.count - 100)) more") }
    }

    private mutating func end() {
        line("")
        row("reproduce", TerminalText.name(report.reproduce, limit: 2_000))
        guard let command = facts.nextCommand else { return }
        line("")
        line("\(facts.advice): " + paint(command, .bold))
    }

    // MARK: Lines

    private enum Colour: String {
        case plain = "0", bold = "1", dim = "2", red = "31", green = "32", yellow = "33", magenta = "35", cyan = "36"
    }

    private var verdictColour: Colour { Colour(rawValue: Wording.colour(report.verdict)) ?? .plain }

    private func paint(_ text: String, _ colours: Colour...) -> String {
        let codes = colours.filter { $0 != .plain }.map(\.rawValue)
        guard options.colour, !text.isEmpty, !codes.isEmpty else { return text }
        return "\u{1B}[\(codes.joined(separator: ";"))m\(text)\u{1B}[0m"
    }

    private mutating func line(_ text: String) {
        output += text
        output += "\n"
    }

    private mutating func heading(_ text: String) {
        line("")
        line(paint(text, .bold))
    }

    private mutating func row(_ label: String, _ text: String) {
        line("  " + label + String(repeating: " ", count: max(1, 11 - label.count)) + text)
    }

    private func cleaned(_ text: String) -> [Substring] {
        TerminalText.clean(text.utf8, colours: options.colour, lineLimit: 500)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Untrusted text of several lines; the first `limit` lines.
    private mutating func block(_ text: String, indent: Int, lines limit: Int) {
        var lines = cleaned(text)
        while lines.last?.allSatisfy(\.isWhitespace) == true { lines.removeLast() }
        let margin = String(repeating: " ", count: indent)
        for part in lines.prefix(limit) { line(margin + part) }
        if lines.count > limit { line(margin + "… \(Figures.count(lines.count - limit, "more line"))") }
    }

    private mutating func wrapped(_ text: String, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        for paragraph in text.split(separator: "\n") {
            var current = ""
            for word in paragraph.split(separator: " ") {
                if !current.isEmpty && indent + current.count + 1 + word.count > options.width {
                    line(margin + current)
                    current = ""
                }
                current += (current.isEmpty ? "" : " ") + word
            }
            line(margin + current)
        }
    }
}
