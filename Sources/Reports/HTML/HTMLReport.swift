import Results
import TerminalText
import Foundation
import Pipeline

/// A report as one self-contained page: no requests, no libraries, and JavaScript only for convenience.
///
/// Failures come first. Long parts are in closed `<details>`, which a browser parses but does not lay out, so that a
/// page with 20,000 tests and megabytes of logs opens at once.
struct HTMLReport {
    let document: ReportDocument
    let options: RenderOptions
    let facts: ReportFacts
    /// The log of each attempt that has one, by file name.
    let logs: [String: ReportLog]
    let span: Span
    /// Renders log lines and records which colours they use.
    var ansi = ANSIHTML(lineLimit: 4_000)
    /// What a step's name leads to where its log is not on the page. The lines of the axis are then part of each row,
    /// since a page that changes can't have a style of its own.
    var timelineLinks: ((Int) -> HTML)?

    init(document: ReportDocument, options: RenderOptions) {
        self.document = document
        self.options = options
        facts = ReportFacts(document)
        span = Span(document.report)
        var logs: [String: ReportLog] = [:]
        for file in document.report.steps.flatMap(\.attempts).compactMap(\.log?.file) where logs[file] == nil {
            logs[file] = document.logs(file)
        }
        self.logs = logs
    }

    var report: Report { document.report }

    func render() -> String {
        var copy = self
        return copy.page().text
    }

    /// The report without the page around it.
    mutating func parts() -> PageParts {
        let body = beforeTimeline()
        let rest = afterTimeline()
        return PageParts(
            banner: banner(), body: body, timeline: timeline(), rest: rest, style: timelineGrid + ansi.stylesheet)
    }

    private mutating func beforeTimeline() -> HTML {
        var body = HTML()
        body += subject()
        body += fixes()
        body += failures()
        body += flakyTests()
        body += conflicts()
        body += findings()
        body += comparison()
        return body
    }

    private mutating func afterTimeline() -> HTML {
        var body = HTML()
        body += testList()
        body += stepLogs()
        body += artifacts()
        body += reproduction()
        return body
    }

    private mutating func page() -> HTML {
        // The body comes first, because only then it is known which colours the logs use.
        var body = banner()
        body += "<main id=\"main\">\n"
        body += beforeTimeline()
        body += timeline()
        body += afterTimeline()
        body += "</main>\n"
        body += footer()
        let policy: HTML = """
            default-src 'none'; style-src 'unsafe-inline'; script-src '\(HTML(trusted: HTMLScript.hash))'; \
            base-uri 'none'; form-action 'none'
            """
        let verdict = "\(Wording.symbol(report.verdict)) \(report.verdict.title)"
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta http-equiv="Content-Security-Policy" content="\(policy)">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta name="referrer" content="no-referrer">
            <meta name="robots" content="noindex">
            <title>\(verdict) · \(report.workflow) \(report.id) · \(facts.subject)</title>
            <style>
            \(HTML(trusted: HTMLStyle.sheet))\(HTML(trusted: timelineGrid))\(HTML(trusted: ansi.stylesheet))</style>
            </head>
            <body class="is-\(report.verdict.rawValue)">
            <a class="skip" href="#main">Skip to the report</a>
            \(body)<script>\(HTML(trusted: HTMLScript.source))</script>
            </body>
            </html>

            """
    }

    // MARK: Head of the page

    private func banner() -> HTML {
        let title = report.verdict.title.prefix(1).uppercased() + report.verdict.title.dropFirst()
        var html: HTML = """
            <header class="banner"><div class="in">
            <p class="verdict"><span class="sign" aria-hidden="true">\(Wording.symbol(report.verdict))</span>\(title)</p>
            <h1>\(report.workflow) <span class="quiet">run \(report.id), \(facts.subject)</span></h1>

            """
        if let change = report.change { html += "<p class=\"title\">\(change.title)</p>\n" }
        html += "<p class=\"reason\">\(text: report.reason)</p>\n"
        html += navigation()
        html += "</div></header>\n"
        return html
    }

    private func navigation() -> HTML {
        var html: HTML = "<nav aria-label=\"Sections\"><ul>"
        func link(_ id: StaticString, _ title: String, _ count: Int?) {
            html += "<li><a href=\"#\(HTML(stringLiteral: id))\">\(title)"
            if let count { html += " <span class=\"n\">\(Figures.grouped(count))</span>" }
            html += "</a></li>"
        }
        if !facts.failing.isEmpty || !facts.failedSteps.isEmpty {
            link("failed", "Failures", facts.failing.isEmpty ? facts.failedSteps.count : facts.failing.count)
        }
        if !facts.flaky.isEmpty { link("flaky", "Flaky", facts.flaky.count) }
        if !report.conflicts.isEmpty { link("conflicts", "Conflicts", report.conflicts.count) }
        if !report.findings.isEmpty { link("findings", "Findings", report.findings.count) }
        if !report.steps.isEmpty { link("timeline", "Timeline", report.steps.count) }
        if !facts.tests.isEmpty { link("tests", "Tests", facts.tests.count) }
        if !report.steps.isEmpty { link("logs", "Logs", nil) }
        if !report.artifacts.isEmpty { link("artifacts", "Artifacts", report.artifacts.count) }
        link("reproduce", "Reproduce", nil)
        html += "</ul></nav>\n"
        return html
    }

    private func subject() -> HTML {
        var html: HTML = "<section class=\"facts\" aria-label=\"What was tested\"><dl>\n"
        func row(_ title: StaticString, _ value: HTML) {
            html += "<div><dt>\(HTML(stringLiteral: title))</dt><dd>\(value)</dd></div>\n"
        }
        func commit(_ id: String) -> HTML { "<code title=\"\(id)\">\(Wording.short(id))</code>" }
        if let change = report.change {
            row("Change", "\(change.name) <span class=\"quiet\">by \(change.author)</span>")
            row("Head", commit(change.head))
            row("Target", "\(change.target) <span class=\"quiet\">at</span> \(commit(change.targetCommit))")
            if let tested = report.testedCommit {
                row("Tested", "\(commit(tested)) <span class=\"quiet\">\(ReportFacts.whatIsTested(report))</span>")
            } else {
                row("Tested", "<span class=\"quiet\">nothing: not merged</span>")
            }
        } else {
            row("Ref", "\(ReportFacts.ref(report))")
            row("Commit", commit(report.testedCommit ?? report.head))
        }
        for merged in report.mergedChanges.prefix(10) {
            let how: HTML = "<span class=\"quiet\">(\(merged.recognition.rawValue)) as</span>"
            row("Landed", "change \(merged.name) \(how) \(commit(merged.commit))")
        }
        let start = report.startedAt ?? report.createdAt
        row("Started", time(start))
        var took: HTML = "\(Figures.duration(from: start, to: report.endedAt))"
        let waited = start.timeIntervalSince(report.createdAt)
        if waited >= 1 { took += " <span class=\"quiet\">after waiting \(Figures.duration(waited))</span>" }
        row("Took", took)
        if report.testCounts.total > 0 { row("Tests", "\(Wording.counts(report.testCounts))") }
        row("Event", "\(facts.event)")
        if let trust = report.trust { row("Trust", "\(trust.rawValue)") }
        if let base = facts.base { row("Workspace", "\(base)") }
        for approval in facts.approvals { row("Approval", "\(approval)") }
        if report.attempt > 1 { row("Attempt", "\(report.attempt)") }
        if let repeats = facts.repeats { row("Repeats", "\(repeats)") }
        if let person = facts.askedBy { row("Asked by", "\(person)") }
        if let fix = report.fix { row("Fix", "\(fix.role.inWords)") }
        for (key, value) in report.parameters.sorted(by: { $0.key < $1.key }) {
            row("Parameter", "<code>\(key)=\(value)</code>")
        }
        row("Box", "\(report.box.host) <span class=\"quiet\">\(report.box.system)</span>")
        if let machine = report.machine { row("Steps on", "\(machine)") }
        if let definition = report.definition {
            row("Definition", "\(commit(definition.commit)) <span class=\"quiet\">\(definition.toolchain)</span>")
        }
        html += "</dl></section>\n"
        return html
    }

    func time(_ date: Date) -> HTML {
        "<time datetime=\"\(date.iso8601)\">\(Figures.dateAndTime(date))</time>"
    }

    // MARK: Small sections

    private func fixes() -> HTML {
        guard let series = report.fixes else { return "" }
        var html: HTML = """
            <section id="fix"><h2>Fix</h2>
            <ul class="rows">

            """
        for line in FixWords.lines(series, of: report.id) { html += "<li>\(line)</li>\n" }
        html += "</ul></section>\n"
        return html
    }

    private func conflicts() -> HTML {
        guard !report.conflicts.isEmpty else { return "" }
        var html: HTML = """
            <section id="conflicts"><h2>Conflicts <span class="n">\(report.conflicts.count)</span></h2>
            <p class="quiet">The change and its target both changed these files. Nothing was run.</p>
            <ul class="rows">

            """
        for conflict in report.conflicts.prefix(1_000) {
            html += "<li><code>\(conflict.path)</code> <span class=\"quiet\">\(conflict.kind)</span></li>\n"
        }
        html += more(report.conflicts.count - 1_000)
        html += "</ul></section>\n"
        return html
    }

    private func findings() -> HTML {
        guard !report.findings.isEmpty else { return "" }
        var html: HTML = """
            <section id="findings"><h2>Findings <span class="n">\(report.findings.count)</span></h2>
            <ul class="rows">

            """
        for finding in report.findings.prefix(500) {
            let severity = finding.severity.rawValue
            html += "<li class=\"finding \(severity)\"><p><b class=\"tag\">\(severity)</b> "
            if let place = ReportFacts.place(of: finding) { html += "<code>\(place)</code> " }
            if finding.message.utf8.contains(UInt8(ascii: "\n")) {
                html += "<span class=\"quiet\">\(finding.rule)</span></p><pre>\(text: finding.message)</pre>"
            } else {
                html += "\(text: finding.message) <span class=\"quiet\">\(finding.rule)</span></p>"
            }
            if let suggestion = finding.suggestion { html += "<p class=\"next\">→ \(text: suggestion)</p>" }
            html += "</li>\n"
        }
        html += more(report.findings.count - 500)
        html += "</ul></section>\n"
        return html
    }

    private func comparison() -> HTML {
        var html = HTML()
        for difference in facts.differences {
            let lines = difference.lines
            html += """
                <section><h2>\(difference.title) <span class="n">\(Figures.grouped(lines.count))</span></h2>
                <details class="plain"\(HTML(trusted: lines.count <= 20 ? " open" : ""))><summary>Show</summary>
                <ul class="rows">

                """
            for line in lines.prefix(2_000) { html += "<li>\(line)</li>\n" }
            html += more(lines.count - 2_000)
            html += "</ul></details></section>\n"
        }
        return html
    }

    private func artifacts() -> HTML {
        guard !report.artifacts.isEmpty else { return "" }
        var html: HTML = """
            <section id="artifacts"><h2>Artifacts <span class="n">\(report.artifacts.count)</span></h2>
            <ul class="rows">

            """
        for artifact in report.artifacts.prefix(1_000) {
            html += """
                <li class="artifact"><code>\(artifact.path)</code> <span>\(Figures.size(artifact.bytes))</span> \
                <span class="quiet">from \(artifact.step)</span><br>\
                <span class="quiet">sha256 <code class="all">\(artifact.sha256)</code></span></li>

                """
        }
        html += more(report.artifacts.count - 1_000)
        html += "</ul></section>\n"
        return html
    }

    private func reproduction() -> HTML {
        let isThere = report.reproduce.hasPrefix("pipectl rerun ")
        let how: HTML = isThere ? "Run it again" : "Run it on your machine, with the same engine"
        var html: HTML = """
            <section id="reproduce"><h2>Reproduce</h2>
            <p class="quiet">\(how):</p>
            <pre class="command"><code class="all">\(report.reproduce)</code></pre>

            """
        if let command = facts.nextCommand {
            html += "<p class=\"quiet\">\(facts.advice):</p>\n"
            html += "<pre class=\"command\"><code class=\"all\">\(command)</code></pre>\n"
        }
        html += "</section>\n"
        return html
    }

    private func footer() -> HTML {
        """
        <footer class="in quiet">pipectl \(report.box.pipectlVersion) on \(report.box.host), \(report.repository), \
        ended \(time(report.endedAt)). Times are UTC.</footer>

        """
    }

    func more(_ count: Int) -> HTML {
        count > 0 ? "<li class=\"quiet\">and \(Figures.grouped(count)) more</li>\n" : ""
    }
}
