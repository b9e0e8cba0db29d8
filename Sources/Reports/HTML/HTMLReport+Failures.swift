import Results

/// The failures: a line for each step, then the tests, the newest failures first.
extension HTMLReport {
    private static let failureLimit = 500
    private static let openFailures = 10

    mutating func failures() -> HTML {
        guard !facts.failing.isEmpty || !facts.failedSteps.isEmpty else { return "" }
        var html: HTML = "<section id=\"failed\"><h2>What failed</h2>\n"
        for step in facts.failedSteps.prefix(50) { html += failure(step) }
        if facts.failedSteps.count > 50 {
            html += "<p class=\"quiet\">and \(Figures.grouped(facts.failedSteps.count - 50)) more steps</p>\n"
        }
        if !facts.failing.isEmpty {
            html += "<h3 class=\"count\">\(Figures.count(facts.failing.count, "failing test"))"
            let here = facts.failing.count { $0.standing == .newlyFailing }
            let there = facts.failing.count { $0.standing == .alsoOnTarget }
            if report.comparison != nil, here + there > 0 {
                html += " <span class=\"quiet\">\(Figures.grouped(here)) new in this change, "
                html += "\(Figures.grouped(there)) also on the target</span>"
            }
            html += "</h3>\n"
        }
        for (index, test) in facts.failing.prefix(Self.failureLimit).enumerated() {
            html += failure(test, isOpen: index < Self.openFailures && test.standing != .alsoOnTarget)
        }
        if facts.failing.count > Self.failureLimit {
            html += """
                <p class="quiet">and \(Figures.grouped(facts.failing.count - Self.failureLimit)) more, \
                in the <a href="#tests">list of all tests</a></p>

                """
        }
        html += "</section>\n"
        return html
    }

    /// Tests that failed and then passed on the same tree.
    func flakyTests() -> HTML {
        guard !facts.flaky.isEmpty else { return "" }
        var html: HTML = """
            <section id="flaky"><h2>Flaky tests <span class="n">\(Figures.grouped(facts.flaky.count))</span></h2>
            <p class="quiet">They failed and passed on the same tree.</p>
            <ul class="rows">

            """
        for test in facts.flaky.prefix(Self.failureLimit) {
            html += "<li><b>\(test.result.id)</b> <span class=\"tag\">\(test.tries) attempts</span>"
            if let trend = document.trends[test.result.id] { html += " \(TrendPicture.svg(of: trend))" }
            if let message = test.earlierFailure { html += "<pre>\(text: clipped(message, to: 2_000))</pre>" }
            html += "</li>\n"
        }
        html += more(facts.flaky.count - Self.failureLimit)
        html += "</ul></section>\n"
        return html
    }

    private mutating func failure(_ step: StepRecord) -> HTML {
        let number = (report.steps.firstIndex { $0.name == step.name } ?? 0) + 1
        let isOpen = facts.failing.isEmpty && facts.failedSteps.first?.name == step.name
        var html: HTML = """
            <details class="card step-failure"\(HTML(trusted: isOpen ? " open" : ""))><summary>\(sign(step.status)) \
            <b>\(step.name)</b>
            """
        let reason = step.reason ?? step.attempts.last?.reason
        if !(reason?.lowercased().hasPrefix(Wording.title(step.status)) ?? false) {
            html += " <span class=\"state\">\(Wording.title(step.status))</span>"
        }
        if step.allowsFailure { html += " <span class=\"tag\">may fail</span>" }
        if let reason { html += " <span class=\"quiet\">\(text: reason)</span>" }
        html += "</summary>\n"
        if let file = step.attempts.last?.log?.file, let log = logs[file], options.logTailLines > 0 {
            let tail = LogExcerpt.tail(of: log.bytes, lines: options.logTailLines)
            if !tail.isEmpty {
                html += "<div class=\"log excerpt\" role=\"region\" aria-label=\"Last lines\" tabindex=\"0\"><pre>"
                Array(tail).withUnsafeBufferPointer { bytes in
                    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
                        html.append(ansi: UnsafeBufferPointer(rebasing: line), with: &ansi)
                        html += "\n"
                    }
                }
                html += "</pre></div>\n"
            }
        }
        html += "<p class=\"foot\"><code>\(step.command)</code> <a href=\"#s\(number)\">Whole log</a></p></details>\n"
        return html
    }

    private func failure(_ test: ReportFacts.Test, isOpen: Bool) -> HTML {
        let result = test.result
        var html: HTML = "<details class=\"card test-failure\"\(HTML(trusted: isOpen ? " open" : ""))><summary>"
        html += "\(sign(.failed)) "
        if !result.suite.isEmpty { html += "<span class=\"quiet\">\(result.suite)/</span>" }
        html += "<b>\(result.name)</b>"
        switch test.standing {
        case .newlyFailing: html += " <span class=\"tag new\">new in this change</span>"
        case .alsoOnTarget: html += " <span class=\"tag\">also fails on the target</span>"
        case .unknown: break
        }
        if result.status == .errored { html += " <span class=\"tag\">error</span>" }
        if test.tries > 1 { html += " <span class=\"tag\">\(test.tries) attempts</span>" }
        if let place = ReportFacts.place(result.file, result.line) { html += " <code class=\"place\">\(place)</code>" }
        if let trend = document.trends[result.id] { html += " \(TrendPicture.svg(of: trend))" }
        html += "</summary>\n"
        if let message = result.message {
            html += "<pre class=\"message\">\(text: clipped(message, to: 8_000))</pre>\n"
        }
        if let details = result.details, details != result.message {
            html += "<pre class=\"details\">\(text: clipped(details, to: 16_000))</pre>\n"
        }
        html += "</details>\n"
        return html
    }

    /// The first `limit` bytes of `text`, with a note about the rest.
    func clipped(_ text: String, to limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        return String(decoding: text.utf8.prefix(limit), as: UTF8.self)
            + "\n… \(Figures.size(text.utf8.count - limit)) more: pipectl report \(report.id) --format json"
    }

    /// The state's symbol in its colour. The word is always beside it, or is its label.
    func sign(_ status: StepStatus) -> HTML {
        let label: HTML = "role=\"img\" aria-label=\"\(Wording.title(status))\""
        return "<span class=\"sign c-\(status.rawValue)\" \(label)>\(Wording.symbol(status))</span>"
    }
}
