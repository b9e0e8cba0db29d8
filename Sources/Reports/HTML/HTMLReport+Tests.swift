import Results

/// All tests by suite, collapsed, with a search field.
extension HTMLReport {
    func testList() -> HTML {
        guard !facts.tests.isEmpty else { return "" }
        var html: HTML = """
            <section id="tests"><h2>Tests <span class="n">\(Figures.grouped(facts.tests.count))</span></h2>
            <div class="tools" id="test-tools" hidden><input type="search" id="test-query" placeholder="Find tests" \
            aria-label="Find tests" autocomplete="off" spellcheck="false"><select id="test-state" aria-label="State">\
            <option value="">all states</option><option value="f">failed</option><option value="y">flaky</option>\
            <option value="s">skipped</option><option value="x">expected failures</option><option value="p">passed</option>\
            </select><output id="test-found" class="quiet"></output></div>

            """
        html.reserve(min(facts.tests.count, options.testLimit) * 128)
        var room = options.testLimit
        for suite in suites where room > 0 { append(suite, &room, to: &html) }
        if facts.tests.count > options.testLimit {
            html += "<p class=\"quiet\">and \(Figures.grouped(facts.tests.count - options.testLimit)) more: "
            html += "<code class=\"all\">pipectl report \(report.id) --format junit</code></p>\n"
        }
        html += "</section>\n"
        return html
    }

    private struct Suite {
        var name: String
        var tests: [ReportFacts.Test] = []
        var failures = 0
        var flaky = 0
        var seconds = 0.0
    }

    /// In the order of the result files, suites with failures first.
    private var suites: [Suite] {
        var suites: [Suite] = []
        var places: [String: Int] = [:]
        for test in facts.tests {
            let place = places[test.result.suite] ?? suites.count
            if place == suites.count {
                places[test.result.suite] = place
                suites.append(Suite(name: test.result.suite))
            }
            suites[place].tests.append(test)
            if test.result.status.isFailure { suites[place].failures += 1 }
            if test.isFlaky { suites[place].flaky += 1 }
            suites[place].seconds += test.result.duration ?? 0
        }
        return suites.filter { $0.failures > 0 } + suites.filter { $0.failures == 0 && $0.flaky > 0 }
            + suites.filter { $0.failures == 0 && $0.flaky == 0 }
    }

    /// - Parameter room: How many tests are listed still.
    private func append(_ suite: Suite, _ room: inout Int, to html: inout HTML) {
        let counts = TestCounts(suite.tests.map(\.result))
        let state = suite.failures > 0 ? StepStatus.failed : .passed
        let name = suite.name.isEmpty ? "(no suite)" : suite.name
        html += "<details class=\"suite\"><summary>\(sign(state)) <b>\(name)</b> "
        html += "<span class=\"quiet\">\(Wording.counts(counts))"
        if suite.flaky > 0 { html += ", \(suite.flaky) flaky" }
        if suite.seconds > 0 { html += " · \(Figures.duration(suite.seconds))" }
        html += "</span></summary>\n"
        // Split into pieces, so that a browser lays out only the visible ones.
        let piece = 200
        // Tests that failed come first where not all are listed.
        let tests =
            suite.tests.count <= room
            ? suite.tests
            : Array(
                (suite.tests.filter(\.result.status.isFailure) + suite.tests.filter { !$0.result.status.isFailure })
                    .prefix(room))
        room -= tests.count
        for start in stride(from: 0, to: tests.count, by: piece) {
            html += "<ul class=\"tests\">\n"
            for test in tests[start..<min(start + piece, tests.count)] { append(test, to: &html) }
            html += "</ul>\n"
        }
        html += "</details>\n"
    }

    private func append(_ test: ReportFacts.Test, to html: inout HTML) {
        let result = test.result
        let state: HTML =
            switch result.status {
            case .failed, .errored: "f"
            case .skipped: "s"
            case .expectedFailure: "x"
            case .passed: test.isFlaky ? "y" : "p"
            }
        html += "<li class=\"t \(state)\">\(result.name)"
        if let seconds = result.duration { html += " <i>\(Figures.duration(seconds))</i>" }
        if test.tries > 1 { html += " <span class=\"tag\">\(test.tries) attempts</span>" }
        if result.status != .passed, let place = ReportFacts.place(result.file, result.line) {
            html += " <code>\(place)</code>"
        }
        let message = result.status == .passed ? test.earlierFailure : result.message
        if let message, !message.isEmpty { html += "<p>\(text: clipped(message, to: 300))</p>" }
        html += "</li>\n"
    }
}
