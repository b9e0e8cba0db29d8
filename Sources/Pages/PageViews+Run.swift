import Control
import Foundation
import PageMarkup
import Pipeline
import Reports
import Results
import Store

/// A run: live while it runs, then its report.
extension PageViews {
    func run(_ id: RunID) async throws -> Page {
        let detail = try await host.run(id)
        let summary = detail.summary
        if summary.state == .ended, let document = try? await host.document(id) {
            return ended(document, summary)
        }
        var head: HTML = "<p>\(Piece.verdict(summary)) \(summary.workflow) of \(Piece.repository(summary.repository)), "
        head += "\(Piece.subject(summary)) at \(Piece.commit(summary.head))</p>\n"
        if let title = summary.title { head += "<p>\(title)</p>\n" }
        if let why = summary.heldFor ?? summary.reason { head += "<p class=\"notice\">\(text: why)</p>\n" }
        if let behind = detail.behind, behind > 0 { head += "<p class=\"quiet\">\(behind) runs are before it.</p>\n" }
        var sections = [Page.Section("state", "", head)]
        if let live = detail.live {
            if live.steps.isEmpty {
                sections.append(.init("steps", "Steps", "<p class=\"quiet\">\(live.progress)</p>\n"))
            } else {
                sections.append(.init("graph", "Graph", graph(of: live)))
                // It has a title of its own.
                sections.append(.init("times", "", timeline(of: live, at: Date())))
                sections.append(.init("steps", "Steps", steps(of: live, limit: 100)))
            }
        }
        if summary.state != .ended {
            let link = Piece.link(["runs", "\(id)", "bundle"], "what an agent sees so far")
            var more: HTML = "<p>\(link)</p>\n<p class=\"quiet\">Run it on your machine, with the same engine:</p>\n"
            more += "<pre class=\"command\"><code class=\"all\">\(Self.repeats(summary))</code></pre>\n"
            sections.append(.init("reproduce", "Repeat", more))
        }
        var page = Page("Run \(id)", command: "pipectl show \(id)", sections)
        page.isOver = summary.state == .ended
        return page
    }

    /// The command that repeats a run; its report has the one with everything.
    private static func repeats(_ run: RunSummary) -> String {
        if let change = run.change { return "pipectl run \(run.workflow.shellQuoted) --change \(change.shellQuoted)" }
        return "pipectl run \(run.workflow.shellQuoted) --ref \(run.ref.shellQuoted)"
    }

    private func stepPath(_ id: RunID, _ number: Int) -> HTML { Piece.href(["runs", "\(id)", "steps", "\(number)"]) }

    private func graph(of run: LiveRun) -> HTML {
        StepGraphPicture(
            run.steps.enumerated().map { place, step in
                let note =
                    step.record.duration.map(Figures.duration) ?? step.waitsFor ?? step.record.reason
                    ?? (step.record.status == .running ? "attempt \(step.attempt)" : "")
                return StepGraphPicture.Node(
                    name: step.record.name, needs: step.record.needs, status: step.record.status, note: note,
                    link: step.attempt > 0 ? stepPath(run.id, place + 1) : nil)
            }
        ).html
    }

    private func graph(of report: Report) -> HTML {
        StepGraphPicture(
            report.steps.enumerated().map { place, step in
                StepGraphPicture.Node(
                    name: step.name, needs: step.needs, status: step.status,
                    note: step.provedBy.map { "proved by run \($0.run)" } ?? step.duration.map(Figures.duration)
                        ?? step.reason ?? "",
                    link: step.attempts.contains { $0.log != nil } ? stepPath(report.id, place + 1) : nil)
            }
        ).html
    }

    /// - Parameter now: Running steps are shown until then.
    private func timeline(of run: LiveRun, at now: Date) -> HTML {
        // In steps of a hundredth, so that a long run is not sent anew each second.
        let grain = max((now.timeIntervalSince(run.startedAt) / 100).rounded(.down), 1)
        let passed = (now.timeIntervalSince(run.startedAt) / grain).rounded(.up) * grain
        let steps = run.steps.map { step in
            var record = step.record
            if record.status == .running, let start = record.attempts.last?.endedAt ?? step.startedAt {
                record.attempts.append(AttemptRecord(number: max(step.attempt, 1), startedAt: start))
            }
            return record
        }
        return TimelinePicture.html(
            of: steps, from: run.startedAt, to: run.startedAt.addingTimeInterval(max(passed, 1))
        ) { stepPath(run.id, $0) }
    }

    /// The page of a run that has ended: its report.
    private func ended(_ document: ReportDocument, _ summary: RunSummary) -> Page {
        var options = RenderOptions(logTailLines: 30, logBytesPerAttempt: 16 << 10, logBytes: 128 << 10)
        (options.testLimit, options.stepLimit) = (300, 60)
        let parts = document.pageParts(options)
        var links: HTML = "<p class=\"links\">"
        links += Piece.link(["api", "v1", "runs", "\(summary.id)", "report"], "JSON") + " · "
        links += Piece.link(["runs", "\(summary.id)", "bundle"], "as an agent sees it")
        if let change = summary.change { links += " · " + Piece.change(change, of: summary.repository) }
        links += " · " + Piece.repository(summary.repository)
        if let other = document.report.comparison?.against { links += " · compared with " + Piece.run(other) }
        if let earlier = summary.rerunOf { links += " · repeats " + Piece.run(earlier) }
        if let newer = summary.supersededBy { links += " · superseded by " + Piece.run(newer) }
        let logged = document.report.steps.enumerated().filter { $1.attempts.contains { $0.log != nil } }
        for (place, step) in logged.filter({ $0.element.status.isFailure }).prefix(20) {
            links += " · " + Piece.link(["runs", "\(summary.id)", "steps", "\(place + 1)"], "log of \(step.name)")
        }
        links += "</p>\n"
        var graph: HTML = ""
        if !document.report.steps.isEmpty {
            graph = "<section id=\"graph\"><h2>Graph</h2>\n\(self.graph(of: document.report))</section>\n"
        }
        var page = Page(
            "\(summary.verdict.map { "\(Wording.symbol($0)) " } ?? "")\(summary.workflow) \(summary.id)",
            command: "pipectl report \(summary.id)",
            [.init("report", "", parts.banner + links + parts.body + graph + parts.timeline + parts.rest)])
        page.style = parts.style
        page.bodyClass = "is-\(summary.verdict?.rawValue ?? "")"
        // Who followed the live run loads this one.
        (page.isLive, page.isOver) = (false, true)
        return page
    }

    /// What must change before the run passes, as an agent gets it.
    func bundle(_ id: RunID) async throws -> Page {
        let wanted = BundleRequest(run: id, bytes: 64 << 10, format: .markdown)
        let text = try await host.ask(.bundle(wanted)) { if case .bundle(let text) = $0 { text } else { nil } }
        var html: HTML = "<p>\(Piece.run(id)) · "
        html += Piece.link(["api", "v1", "runs", "\(id)", "bundle"], "JSON") + "</p>\n"
        html += "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Bundle\">"
        html += "<pre class=\"bundle\">\(text: text)</pre></div>\n"
        var page = Page(
            "Bundle of run \(id)", command: "pipectl report \(id) --bundle",
            [.init("bundle", "What an agent gets", html)])
        page.isLive = false
        return page
    }
}
