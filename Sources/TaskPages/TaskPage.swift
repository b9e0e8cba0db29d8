import Foundation
package import PageMarkup
import Pipeline
import Reports
package import Results
package import TaskText
import Tasks

/// One task: everything that is needed to decide, on one page.
package struct TaskPage {
    let story: TaskStory
    let runs: [RunSummary]
    let difference: String?
    let reader: PageReader

    /// - Parameters:
    ///   - runs: The runs of the task, the newest first.
    ///   - difference: What the offered try changes, as a unified difference.
    package init(_ story: TaskStory, runs: [RunSummary], difference: String?, for reader: PageReader) {
        (self.story, self.runs, self.difference, self.reader) = (story, runs, difference, reader)
    }

    private var task: TaskRecord { story.task }

    package var page: Page {
        var sections: [Page.Section] = [.init("state", "", state), .init("actions", "", actions)]
        if let crash = task.crash { sections.append(.init("crash", "Crash", self.crash(crash))) }
        if task.text != task.title || !task.files.isEmpty { sections.append(.init("asked", "Asked for", asked)) }
        if let plan = story.plan {
            sections.append(.init("plan", "Plan, version \(plan.version)", self.plan(plan)))
        }
        if let made = story.offered {
            sections.append(.init("done", "What was done", done(made)))
            if let difference, !difference.isEmpty {
                sections.append(.init("difference", "The difference", shown(difference)))
            }
        }
        if !story.openRemarks.isEmpty {
            sections.append(
                .init(
                    "remarks", "Remarks that are not answered yet",
                    Piece.list(story.openRemarks, none: "") { event in
                        guard case .remark(let text) = event.what else { return "" }
                        return "<b>\(event.by ?? "")</b> \(Piece.time(event.at))\n\(TaskPiece.quote(text))"
                    }))
        }
        if let rules = story.proposedRules { sections.append(.init("rules", "A rule for agents", self.rules(rules))) }
        sections.append(.init("way", "The way", way))
        if !runs.isEmpty {
            let table = Piece.table(runs, "Runs of the task", none: "There is no run.", showsRepository: false)
            sections.append(.init("runs", "Runs", table))
        }
        sections.append(.init("history", "", history))
        return Page("Task \(task.id)", command: "pipectl task show \(task.id)", sections)
    }

    // MARK: What it is

    private var state: HTML {
        var html: HTML = "<p class=\"lead\">\(task.title)</p>\n<p>\(TaskPiece.state(task.state)) "
        html += "in \(Piece.repository(task.repository)), for \(task.branch): \(TaskWords.source(of: task)), "
        html += "\(Piece.time(task.createdAt))</p>\n"
        if !task.reason.isEmpty { html += "<p class=\"notice\">\(text: task.reason)</p>\n" }
        var links: [HTML] = []
        if let change = task.change { links.append(Piece.change(change, of: task.repository)) }
        // Only such an address can be followed without harm.
        if let link = task.changeLink, link.hasPrefix("https://") || link.hasPrefix("http://") {
            links.append("<a href=\"\(link)\" rel=\"noreferrer\">at the forge</a>")
        }
        if let version = task.release {
            links.append(Piece.link(["releases", task.repository, version], "release \(version)"))
        }
        if !links.isEmpty {
            html += "<p class=\"links\">" + links.dropFirst().reduce(links[0]) { $0 + " · " + $1 } + "</p>\n"
        }
        let spent = TaskWords.spent(task.spent)
        if !spent.isEmpty { html += "<p class=\"quiet\">Used: \(spent)</p>\n" }
        return html
    }

    private func crash(_ crash: TaskCrash) -> HTML {
        var html: HTML = "<p><b>\(crash.title)</b></p>\n"
        html += "<p class=\"quiet\">\(Figures.count(crash.count, "report"))"
        if let release = crash.release { html += ", version \(release)" }
        if let commit = crash.commit { html += " at \(Piece.commit(commit))" }
        html += "</p>\n"
        guard !crash.frames.isEmpty else { return html }
        html += "<ol class=\"frames\">\n"
        for frame in crash.frames.prefix(20) {
            html += "<li><code>\(frame.function)</code>"
            if let file = frame.file {
                html += " <span class=\"quiet\">\(file)\(frame.line.map { ":\($0)" } ?? "")</span>"
            }
            html += "</li>\n"
        }
        return html + "</ol>\n"
    }

    private var asked: HTML {
        var html: HTML = task.text == task.title ? "" : TaskPiece.quote(task.text)
        if !task.files.isEmpty {
            html += Piece.list(task.files, "quiet", none: "") { file in
                "<code>\(file.name)</code> \(Figures.size(file.bytes))"
            }
        }
        return html
    }

    // MARK: The plan

    private func plan(_ plan: TaskPlan) -> HTML {
        var html: HTML = "<p>\(text: plan.summary)</p>\n"
        for part in PlanWords.parts(plan) {
            html += "<h3>\(part.title)</h3>\n"
            if !part.text.isEmpty { html += TaskPiece.quote(part.text) }
            if !part.items.isEmpty {
                html += Piece.list(part.items, "dots", none: "") { item in "<code>\(item)</code>" }
            }
        }
        let older = story.plans.dropLast().last { $0.version < plan.version }
        guard let older else { return html }
        html += "<details><summary>What is new since version \(older.version)</summary>\n"
        html += TaskPiece.difference(
            TaskPlanDifference(from: older, to: plan).text.foreignLines, "Difference to version \(older.version)",
            isPatch: false)
        return html + "</details>\n"
    }

    // MARK: What was done

    private func done(_ made: TaskTry) -> HTML {
        var html: HTML = "<p>\(TaskWords.size(of: made)), \(Piece.run(made.run))</p>\n"
        if !made.unplanned.isEmpty {
            html += "<p class=\"notice\">Not in the plan: \(made.unplanned.prefix(20).joined(separator: ", "))"
            html += made.unplanned.count > 20 ? " and \(made.unplanned.count - 20) more</p>\n" : "</p>\n"
        }
        let tests = story.reproducing(made.attempt)
        if !tests.isEmpty {
            html += "<h3>Fails on the target, passes here</h3>\n"
            html += Piece.list(tests.prefix(50), "dots", none: "") { "<code>\($0)</code>" }
        }
        let checks = story.checks(of: made.attempt)
        if !checks.isEmpty {
            html += "<h3>Checks</h3>\n"
            html += Piece.list(checks, none: "") { event in
                guard case .checked(let run, _, let verdict, let reason) = event.what else { return "" }
                var entry: HTML = "\(Piece.sign(verdict)) \(Piece.run(run)) \(kind(of: run))"
                if !reason.isEmpty { entry += "<br><span class=\"quiet\">\(text: reason)</span>" }
                return entry
            }
        }
        if let summary = made.summary, !summary.isEmpty {
            html += "<details><summary>What the agent says</summary>\n\(TaskPiece.quote(summary))</details>\n"
        }
        let others = story.tries.filter { $0 != made }
        if !others.isEmpty {
            html += "<details><summary>\(others.count == 1 ? "1 other try" : "\(others.count) other tries")</summary>\n"
            html += Piece.list(others, none: "") { "\(TaskWords.size(of: $0)), \(Piece.run($0.run))" }
            html += "</details>\n"
        }
        return html
    }

    private func kind(of run: RunID) -> String {
        runs.first { $0.id == run }.map { $0.task?.part == .reviewing ? "review" : $0.workflow } ?? ""
    }

    private func shown(_ difference: String) -> HTML {
        TaskPiece.difference(difference.foreignLines, "Difference of the offered try")
    }

    private func rules(_ patch: String) -> HTML {
        var html: HTML = "<p>From a remark. Nothing has applied it: save it, and apply it with "
        html += "<code class=\"all\">git apply</code>.</p>\n"
        return html
            + TaskPiece.difference(
                patch.foreignLines, "Proposed rule")
    }

    // MARK: Its way

    private var way: HTML {
        var html: HTML = "<ol class=\"way\">\n"
        for stage in story.stages {
            html +=
                "<li class=\"w-\(HTML(trusted: stage.state.rawValue))\"><span class=\"v\" aria-hidden=\"true\">\(stage.sign)</span> "
            html += "<b>\(stage.name.rawValue)</b> "
            if let at = stage.at {
                html += Piece.time(at)
                if let seconds = stage.seconds {
                    html += " <span class=\"quiet\">+\(Figures.duration(seconds.rounded()))</span>"
                }
            } else {
                html += "<span class=\"quiet\">\(stage.stateInWords)</span>"
            }
            if !stage.text.isEmpty || stage.run != nil {
                html += "<br><span class=\"quiet\">\(String(stage.text.prefix(500)))</span>"
                if let run = stage.run { html += " \(Piece.run(run))" }
            }
            html += "</li>\n"
        }
        return html + "</ol>\n"
    }

    private var history: HTML {
        var html: HTML = "<details><summary>Everything that happened</summary>\n<ol class=\"rows\">\n"
        for event in story.events.suffix(200) {
            html += "<li>\(Piece.time(event.at)) "
            if let by = event.by { html += "<b>\(by)</b> " }
            html += "\(String(TaskWords.sentence(event.what).prefix(1_000)))</li>\n"
        }
        return html + "</ol></details>\n"
    }

    // MARK: What a person can do

    private var actions: HTML {
        guard !task.state.isEnded else { return "" }
        switch reader {
        case .operator: return "<div class=\"decide\">\(buttons)</div>\n"
        case .known: return "<p class=\"quiet\">Your login may read and not act.</p>\n"
        case .stranger:
            return
                "<p class=\"quiet\"><a href=\"/login\">Log in</a> to act: <code>pipectl pages</code> on the build box.</p>\n"
        }
    }

    private var buttons: HTML {
        let path = ["tasks", "\(task.id)"]
        var html: HTML = ""
        switch task.state {
        case .planWaits:
            if let plan = story.plan {
                html += PageForms.button(
                    "Approve plan \(plan.version)", to: path + ["approve"], [("plan", "\(plan.version)")])
            }
        case .ready:
            if let made = story.offered {
                html += PageForms.button(
                    "Land \(made.commit.prefix(10))", to: path + ["land"], [("commit", made.commit)])
            }
        default: break
        }
        let hint: HTML =
            task.state == .planWaits ? "What should the plan do otherwise?" : "What should be done otherwise?"
        html += PageForms.form(
            to: path + ["remark"], [],
            "<label>\(hint) <textarea name=\"text\" rows=\"3\" maxlength=\"20000\" required></textarea></label> <button>Remark</button>"
        )
        html += "<details><summary>End it</summary>\n"
        if task.state.waitsForPerson { html += PageForms.rejection("Refuse", to: path + ["refuse"]) }
        return html + PageForms.rejection("Cancel the task", to: path + ["cancel"]) + "</details>\n"
    }
}
