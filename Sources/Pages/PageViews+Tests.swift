import PageMarkup
import Pipeline
import Control
import Foundation
import Reports
import Results
import Store

/// Tests, the machine, and search.
extension PageViews {
    func tests(_ request: PageRequest) async throws -> Page {
        var filter = TestFilter()
        filter.repository = request.value("repository")
        filter.workflow = request.value("workflow")
        let chosen = filter
        let flaky = try await host.ask(.flakyTests(chosen)) { if case .flaky(let tests) = $0 { tests } else { nil } }
        let slowest = try await host.ask(.slowestTests(chosen, 20)) {
            if case .slowest(let tests) = $0 { tests } else { nil }
        }
        let flakyList = Piece.list(flaky.prefix(50), none: "No test has passed and failed with the same files.") {
            test in
            var entry: HTML = "\(historyLink(test.suite, test.name, chosen)) changed its result "
            entry += "\(Figures.count(test.flips, "time")) in \(Figures.count(test.runs, "run")); last in "
            entry += Piece.run(test.lastRun)
            if let message = test.lastMessage {
                entry += "<br><span class=\"quiet\">\(text: String(message.prefix(300)))</span>"
            }
            return entry
        }
        let slowList = Piece.list(slowest, none: "No test has a time yet.") { test in
            var entry = historyLink(test.trend.suite, test.trend.name, chosen)
            entry +=
                " \(TrendPicture.svg(of: test.trend)) <span class=\"quiet\">median \(Figures.duration(test.median)), "
            entry += "worst \(Figures.duration(test.worst)), \(Int((test.share * 100).rounded())) % of all</span>"
            return entry
        }
        var search: HTML = "<form class=\"filter\" method=\"get\" action=\"/search\"><label>Test "
        search += "<input type=\"search\" name=\"q\"></label> <button>Find</button></form>\n"
        var page = Page(
            "Tests", command: "pipectl flaky",
            [.init("find", "", search), .init("flaky", "Flaky", flakyList), .init("slowest", "Slowest", slowList)])
        page.isLive = false
        return page
    }

    private func historyLink(_ suite: String, _ name: String, _ filter: TestFilter) -> HTML {
        var query = [("suite", suite), ("name", name)]
        if let repository = filter.repository { query.append(("repository", repository)) }
        return Piece.link(["tests", "history"], query: query, "\(suite.isEmpty ? name : "\(suite)/\(name)")")
    }

    func history(_ request: PageRequest) async throws -> Page {
        guard let name = request.value("name") else { throw PageProblem(.badRequest, "the test's name is missing") }
        let suite = request.query["suite"] ?? ""
        var filter = TestFilter()
        filter.repository = request.value("repository")
        filter.limit = 200
        let found = try await host.index.testHistory(suite: suite, name: name, filter)
        let trends = try await host.index.trends([(suite: suite, name: name)], filter)
        var html: HTML = ""
        for trend in trends { html += "<p>\(TrendPicture.svg(of: trend))</p>\n" }
        if found.isEmpty {
            html += "<p class=\"quiet\">No run has this test.</p>\n"
        } else {
            html += """
                <div class="scroll" role="region" tabindex="0" aria-label="Results"><table><thead><tr><th scope="col">Run</th>
                <th scope="col">Result</th><th scope="col">Took</th><th scope="col">Commit</th><th scope="col">When</th></tr></thead><tbody>

                """
            for one in found {
                html += "<tr><td>\(Piece.run(one.run))</td><td>\(one.result.status.rawValue)"
                if let message = one.result.message {
                    html += "<br><span class=\"quiet\">\(text: String(message.prefix(300)))</span>"
                }
                html +=
                    "</td><td class=\"n\">\(one.result.duration.map(Figures.duration) ?? "")</td><td>\(Piece.commit(one.head))</td>"
                html += "<td>\(one.endedAt.map(Piece.time) ?? "")</td></tr>\n"
            }
            html += "</tbody></table></div>\n"
        }
        let title = suite.isEmpty ? name : "\(suite)/\(name)"
        var page = Page(title, command: "pipectl history \(title.shellQuoted)", [.init("history", "Results", html)])
        page.isLive = false
        return page
    }

    // MARK: The machine

    func machine() async throws -> Page {
        let status = try await host.status()
        let proofs = try await host.ask(.proofs) { if case .proofs(let status) = $0 { status } else { nil } }
        var query = RunsQuery(states: [.ended], limit: 300)
        query.hidesBackground = true
        let runs = try await host.runs(query)
        var facts: HTML = "<dl class=\"facts\">\n"
        func row(_ title: StaticString, _ value: HTML) {
            facts += "<div><dt>\(HTML(stringLiteral: title))</dt><dd>\(value)</dd></div>\n"
        }
        row("Steps at a time", "\(status.slots)")
        row("Live runs", "\(status.running.count)")
        row("Queued", "\(status.queued.count)")
        if let free = status.freeBytes { row("Free on its disk", "\(Figures.size(free))") }
        if let machine = status.machine {
            row("Sandbox", "\(machine.sandbox ?? machine.sandboxObstacle ?? "none")")
            row("Limits", "\(machine.limits)")
            row("Workspaces", "\(machine.workspaces)")
        }
        row(
            "Proofs",
            "\(Figures.count(proofs.counts.reduce(0) { $0 + $1.merged + $1.own }, "proof")) of \(proofs.counts.count) steps"
        )
        let saved = await savedWork.figures(of: runs, host)
        if saved.runs > 0 {
            let steps = saved.proved + saved.ran
            let share = steps > 0 ? Int((Double(saved.proved) / Double(steps) * 100).rounded()) : 0
            row(
                "Proved",
                "\(share) % of \(Figures.count(steps, "step")) of the last \(Figures.count(saved.runs, "run"))")
            row("Warm workspaces", "\(saved.warm) of the last \(Figures.count(saved.runs, "run"))")
        }
        row("State", "<code>\(status.state)</code>")
        row("pipectl", "\(status.version), process \(Int(status.processID))")
        facts += "</dl>\n"
        var sections = [Page.Section("facts", "This machine", facts)]
        for (workflow, own) in Dictionary(grouping: runs, by: { "\($0.workflow) of \($0.repository)" }).sorted(by: {
            $0.key < $1.key
        }).prefix(20) {
            sections.append(.init("durations\(sections.count)", "Durations of \(workflow)", durations(own)))
        }
        return Page("Machine", command: "pipectl doctor", sections)
    }

    /// The durations of runs over time, as a line.
    private func durations(_ newestFirst: [RunSummary]) -> HTML {
        let times = newestFirst.reversed().compactMap(\.duration)
        guard times.count > 1, let most = times.max(), most > 0 else {
            return "<p class=\"quiet\">Too few runs.</p>\n"
        }
        let points = times.enumerated().map { place, time in
            let x = Double(place) / Double(times.count - 1) * 600
            return "\(Int(x)),\(Int(60 - time / most * 56))"
        }
        return """
            <svg class="plot" role="img" viewBox="0 0 600 64"><title>\(times.count) runs, at most \(Figures.duration(most))</title>\
            <polyline points="\(HTML(trusted: points.joined(separator: " ")))"/></svg>
            <p class="quiet">\(times.count) runs, the newest on the right; at most \(Figures.duration(most)).</p>

            """
    }

    // MARK: Search

    func search(_ request: PageRequest) async throws -> Page {
        let text = (request.value("q") ?? "").trimmingCharacters(in: .whitespaces)
        var sections: [Page.Section] = []
        if !text.isEmpty, text.utf8.count <= 500 {
            if let number = Int64(text.drop { $0 == "#" }), number > 0, let run = try? await host.run(number) {
                sections.append(.init("run", "Run", Piece.table([run.summary], "Run", none: "")))
            }
            let isHex =
                text.count >= 4
                && text.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x61...0x66).contains($0) || (0x41...0x46).contains($0)
                }
            if isHex {
                let runs = try await host.runs(RunsQuery(commit: text.lowercased(), limit: 20))
                if !runs.isEmpty {
                    sections.append(.init("commit", "Commits", Piece.table(runs, "Runs of the commit", none: "")))
                }
            }
            let changed = try await host.runs(RunsQuery(change: text, limit: 20))
            if !changed.isEmpty {
                sections.append(.init("change", "Changes", Piece.table(changed, "Runs of the change", none: "")))
            }
            let branches = try await host.runs(RunsQuery(branch: text, limit: 20))
            if !branches.isEmpty {
                sections.append(.init("branch", "Branches", Piece.table(branches, "Runs of the branch", none: "")))
            }
            let names = try await host.index.testNames(matching: text, limit: 50)
            if !names.isEmpty {
                var html: HTML = "<ul class=\"rows\">\n"
                for name in names { html += "<li>\(historyLink(name.suite, name.name, TestFilter()))</li>\n" }
                sections.append(.init("tests", "Tests", html + "</ul>\n"))
            }
        }
        if sections.isEmpty {
            sections.append(
                .init(
                    "nothing", "",
                    "<p class=\"quiet\">Nothing is found for \"\(text)\". Look for the number of a run, a commit, a change, a branch or a part of a test's name.</p>\n"
                ))
        }
        var page = Page("Search", command: "pipectl runs", sections)
        page.isLive = false
        return page
    }
}
