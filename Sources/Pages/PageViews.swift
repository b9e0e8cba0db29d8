import PageMarkup
import Pipeline
import Control
import Foundation
import Reports
import Results
import Store

/// The pages, each made from what the daemon says at the moment.
struct PageViews: Sendable {
    let host: PagesHost
    /// For logs of the archive, which are in memory as a whole.
    let logTurns = Turns(most: 2)
    let savedWork = SavedWork()
    let differences = KeptDifferences()

    /// The page at a path; nil where there is none.
    func page(_ request: PageRequest) async throws -> Page? {
        let path = request.path
        switch (path.first, path.count) {
        case (nil, 0): return try await overview()
        case ("runs", 1): return try await runs(request)
        case ("runs", 2): return try await run(try id(path[1]))
        case ("runs", 3) where path[2] == "bundle": return try await bundle(try id(path[1]))
        case ("releases", 1): return try await releases(request)
        case ("releases", 3): return try await release(path[2], of: path[1])
        case ("runs", 4) where path[2] == "steps": return try await log(try id(path[1]), path[3], request)
        case ("repositories", 2): return try await repository(path[1])
        case ("repositories", 4) where path[2] == "changes":
            return try await change(path[3], of: path[1])
        case ("tests", 1): return try await tests(request)
        case ("tests", 2) where path[1] == "history": return try await history(request)
        case ("tasks", 1): return try await tasks(request)
        case ("tasks", 2): return try await task(path[1], request)
        case ("queue", 1): return try await queues()
        case ("machine", 1): return try await machine()
        case ("search", 1): return try await search(request)
        default: return nil
        }
    }

    func id(_ text: String) throws -> RunID {
        guard let number = Int64(text), number > 0 else { throw PageProblem(.notFound, "there is no run \"\(text)\"") }
        return number
    }

    // MARK: Overview

    private func overview() async throws -> Page {
        let status = try await host.status()
        let ended = try await host.runs(query(states: [.ended], limit: 10))
        var failed = query(states: [.ended], limit: 8)
        failed.verdicts = [.failed, .conflict, .definitionError, .infrastructure]
        let bad = try await host.runs(failed)
        var sections: [Page.Section] = []
        if let obstacle = status.obstacle {
            sections.append(.init("obstacle", "", "<p class=\"notice\">No run starts: \(text: obstacle)</p>\n"))
        }
        sections.append(.init("running", "Running", running(status.running)))
        if !status.held.isEmpty {
            sections.append(
                .init(
                    "held", "Waiting for approval",
                    Piece.table(status.held, "Runs that wait for approval", none: "No run waits for approval.")))
        }
        let waiting = try await host.index.tasks(
            TaskFilter(states: Set(TaskState.all.filter(\.waitsForPerson)), limit: 20))
        if let section = taskSection("Tasks that wait for a person", waiting, showsRepository: true) {
            sections.append(section)
        }
        sections.append(.init("queue", "Queued", Piece.table(status.queued, "Queued runs", none: "No run is queued.")))
        sections.append(
            .init("failed", "Failed last", Piece.table(bad, "Runs that failed last", none: "No run has failed.")))
        sections.append(
            .init("ended", "Ended last", Piece.table(ended, "Runs that ended last", none: "No run has ended yet.")))
        sections.append(.init("repositories", "Repositories", try await repositories(status)))
        return Page("Overview", command: "pipectl status", sections)
    }

    func query(
        repository: String? = nil, states: [RunState] = [], limit: Int
    ) -> RunsQuery {
        var query = RunsQuery(repository: repository, states: states, limit: limit)
        query.hidesBackground = true
        return query
    }

    private func running(_ runs: [LiveRun]) -> HTML {
        guard !runs.isEmpty else { return "<p class=\"quiet\">No run is running.</p>\n" }
        var html: HTML = "<ul class=\"cards\">\n"
        for run in runs {
            let ended = run.steps.count { $0.record.status.isFinal }
            html += "<li><p><b>\(Piece.run(run.id))</b> \(run.workflow) of \(Piece.repository(run.repository)), "
            html +=
                "\(run.subject) <span class=\"quiet\">\(run.progress), since \(Piece.time(run.startedAt))</span></p>\n"
            if !run.steps.isEmpty {
                html += "<progress max=\"\(run.steps.count)\" value=\"\(ended)\" "
                html += "aria-label=\"steps that have ended\">\(ended) of \(run.steps.count)</progress>\n"
                html += steps(of: run, limit: 12)
            }
            html += "</li>\n"
        }
        html += "</ul>\n"
        return html
    }

    /// The steps of a live run, those that run or failed first where there are many.
    func steps(of run: LiveRun, limit: Int) -> HTML {
        var chosen = Array(run.steps.enumerated())
        if chosen.count > limit {
            let rank: (LiveRun.Step) -> Int = { step in
                step.record.status == .running
                    ? 0 : step.record.status.isFailure ? 1 : step.record.status.isFinal ? 3 : 2
            }
            chosen = Array(
                chosen.sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.prefix(limit))
        }
        var html: HTML = "<ol class=\"steps\">\n"
        for (place, step) in chosen {
            html += "<li>\(Piece.sign(step.record.status)) "
            if step.attempt > 0 {
                html += Piece.link(["runs", "\(run.id)", "steps", "\(place + 1)"], "\(step.record.name)")
            } else {
                html += "\(step.record.name)"
            }
            if let started = step.startedAt, step.record.status == .running {
                html += " <span class=\"quiet\">since \(Piece.time(started))</span>"
            } else if let seconds = step.record.duration {
                html += " <span class=\"quiet\">\(Figures.duration(seconds))</span>"
            }
            if let why = step.waitsFor ?? step.record.reason { html += "<br><span class=\"quiet\">\(why)</span>" }
            if step.record.status == .running, let line = step.lastLine, !line.isEmpty {
                html += "<br><code class=\"last\">\(line)</code>"
            }
            html += "</li>\n"
        }
        html += "</ol>\n"
        if run.steps.count > chosen.count {
            html += "<p class=\"quiet\">and \(run.steps.count - chosen.count) more steps</p>\n"
        }
        return html
    }

    private func repositories(_ status: DaemonStatus) async throws -> HTML {
        let watched = status.repositories.filter(\.isWatched)
        guard !watched.isEmpty else {
            return "<p class=\"quiet\">No repository is watched: <code>pipectl watch PATH</code></p>\n"
        }
        var html: HTML = "<ul class=\"cards\">\n"
        for one in watched.prefix(200) {
            let runs = try await host.runs(query(repository: one.name, states: [.ended], limit: 40))
            html += "<li><p><b>\(Piece.repository(one.name))</b> <span class=\"quiet\">\(one.location)</span></p>\n"
            html += "<p>\(Piece.sparkline(runs)) "
            let open = one.changes.filter { $0.value > 0 }.sorted { $0.key < $1.key }
            html += "\(open.isEmpty ? "no open change" : open.map { "\($0.value) \($0.key)" }.joined(separator: ", "))"
            if let target = one.target { html += ", into \(target)" }
            html += "</p>\n"
            if let advice = one.advice { html += "<p class=\"notice\">\(text: advice)</p>\n" }
            html += "</li>\n"
        }
        html += "</ul>\n"
        return html
    }

    // MARK: Runs

    private func runs(_ request: PageRequest) async throws -> Page {
        var query = query(repository: request.value("repository"), limit: 50)
        query.workflow = request.value("workflow")
        query.change = request.value("change")
        query.branch = request.value("branch")
        query.commit = request.value("commit")
        query.verdicts = request.value("verdict").flatMap(Verdict.init).map { [$0] } ?? []
        query.before = request.value("before").flatMap(Int64.init)
        let runs = try await host.runs(query)
        var html: HTML = "<form class=\"filter\" method=\"get\" action=\"/runs\">\n"
        for name in ["repository", "workflow", "branch", "change", "commit"] {
            html += "<label>\(name) <input name=\"\(name)\" value=\"\(request.value(name) ?? "")\"></label>\n"
        }
        html += "<label>verdict <select name=\"verdict\"><option value=\"\">any</option>"
        for verdict in Verdict.allCases {
            let chosen = request.value("verdict") == verdict.rawValue
            html +=
                "<option value=\"\(verdict.rawValue)\"\(HTML(trusted: chosen ? " selected" : ""))>\(verdict.title)</option>"
        }
        html += "</select></label> <button>Show</button></form>\n"
        html += Piece.table(runs, "Runs", none: "No run is like that.")
        if runs.count == 50, let last = runs.last {
            let kept = request.query.filter { $0.key != "before" && !$0.value.isEmpty }.sorted { $0.key < $1.key }
            html += "<p>\(Piece.link(["runs"], query: kept + [("before", "\(last.id)")], "Older runs"))</p>\n"
        }
        var page = Page("Runs", command: "pipectl runs", [.init("runs", "Runs", html)])
        page.isLive = request.value("before") == nil
        return page
    }

    // MARK: Repositories and changes

    private func repository(_ name: String) async throws -> Page {
        let status = try await host.status()
        guard let one = status.repositories.first(where: { $0.name == name }) else {
            throw PageProblem(.notFound, "there is no repository \"\(name)\"")
        }
        let changes = try await host.index.changes(of: name, states: [.open, .stale, .conflict])
            .sorted { $0.updatedAt > $1.updatedAt }
        let runs = try await host.runs(query(repository: name, limit: 50))
        var (newest, branches): ([String: RunSummary], [String: RunSummary]) = ([:], [:])
        for run in try await host.runs(query(repository: name, limit: 500)).reversed() {
            if let change = run.change { newest[change] = run } else { branches[run.ref] = run }
        }
        let tips = branches.values.sorted { $0.id > $1.id }.prefix(30)
        let list = Piece.list(changes.prefix(200), "cards", none: "No change is open.") { change in
            var entry: HTML = "<p><b>\(Piece.change(change.name, of: name))</b> \(change.title) "
            entry +=
                "<span class=\"quiet\">by \(change.author), into \(change.target), \(change.state.rawValue)</span></p><p>"
            if let run = newest[change.name] {
                entry += "\(Piece.verdict(run)) \(Piece.run(run.id))"
            } else {
                entry += "no run"
            }
            return entry + " at \(Piece.commit(change.head))</p>"
        }
        let queues = try await host.mergeQueues(of: name)
        let tasks = taskSection("Tasks", try await openTasks(of: name))
        return Page(
            name, command: "pipectl runs --repository \(name.shellQuoted)",
            [tasks].compactMap { $0 } + [
                .init("about", "", "<p class=\"quiet\">\(one.location)</p>\n<p>\(Piece.sparkline(runs))</p>\n"),
                .init("changes", "Open changes", list),
                .init(
                    "branches", "Branches and tags",
                    Piece.table(
                        Array(tips), "The newest run of each branch and tag", none: "No branch or tag has a run yet.",
                        showsRepository: false)), .init("queue", "Merge queue", queueList(queues)),
                .init("runs", "Runs", Piece.table(runs, "Runs", none: "There is no run yet.", showsRepository: false)),
            ])
    }

    // MARK: The merge queue

    private func queues() async throws -> Page {
        Page(
            "Merge queue", command: "pipectl queue",
            [.init("queue", "Merge queue", queueList(try await host.mergeQueues()))])
    }

    private func queueList(_ queues: [MergeQueueStatus]) -> HTML {
        let used = queues.filter { !$0.entries.isEmpty || !$0.ended.isEmpty || $0.frozen != nil }
        guard !used.isEmpty else { return "<p class=\"quiet\">No change is in line.</p>\n" }
        var html: HTML = ""
        for queue in used {
            html +=
                "<h3>\(queue.branch) of \(Piece.repository(queue.repository)) at \(Piece.commit(queue.target))</h3>\n"
            if let why = queue.frozen { html += "<p class=\"notice\">It is frozen: \(text: why)</p>\n" }
            html += "<ol class=\"rows\">\n"
            for entry in queue.entries {
                html += "<li>\(Piece.change(entry.change, of: queue.repository)) \(entry.title) "
                html += "<b class=\"tag\">\(entry.state.rawValue)</b>"
                if !entry.onTopOf.isEmpty {
                    html += " <span class=\"quiet\">on top of \(entry.onTopOf.joined(separator: ", "))</span>"
                }
                for run in entry.runs { html += " \(Piece.run(run))" }
                if let date = entry.estimate { html += " <span class=\"quiet\">lands at</span> \(Piece.time(date))" }
                html += " <span class=\"quiet\">asked by \(entry.askedBy)</span></li>\n"
            }
            html += "</ol>\n"
            guard !queue.ended.isEmpty else { continue }
            html += "<details><summary>\(queue.ended.count) left it</summary><ul class=\"rows\">\n"
            for ended in queue.ended.prefix(50) {
                html += "<li>\(Piece.change(ended.change, of: queue.repository)) <b class=\"tag\">\(ended.outcome)</b> "
                html += "\(text: ended.reason) \(Piece.time(ended.endedAt))"
                for run in ended.runs { html += " \(Piece.run(run))" }
                html += "</li>\n"
            }
            html += "</ul></details>\n"
        }
        return html
    }
}
