import Control
import PageMarkup
import Reports
import Results
import Store

/// The buttons of pages, for those who may act; others are told how to.
///
/// Forms contain ``FormMark``: whoever gets the page has a token of their own there.
struct PageButtons: Sendable {
    let host: PagesHost

    /// Adds what can be done on a page, in a section of its own.
    func add(to page: inout Page, _ request: PageRequest) async throws {
        let path = request.path
        let html: HTML
        switch (path.first, path.count) {
        case ("runs", 2):
            guard let id = Int64(path[1]) else { return }
            html = buttons(of: try await host.run(id))
        case ("repositories", 4) where path[2] == "changes":
            guard let change = try await host.index.change(path[3], of: path[1]) else { return }
            html = buttons(of: change, in: path[1])
        case ("repositories", 2): html = Piece.link(path + ["start"], "Run a workflow")
        case ("tests", 2) where path[1] == "history":
            let query = request.query.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
            page.sections.append(
                .init(
                    "quarantine", "", "<p>\(Piece.link(["tests", "quarantine"], query: query, "Quarantine it"))</p>\n"))
            return
        default: return
        }
        guard !html.isEmpty else { return }
        let section = Page.Section("actions", "", Self.shown(html, to: request.reader))
        // The report of a run is one long section.
        page.sections.insert(section, at: page.sections.first?.id == "report" ? 0 : min(1, page.sections.count))
    }

    private static func shown(_ html: HTML, to reader: PageReader) -> HTML {
        switch reader {
        case .operator: "<div class=\"actions\">\(html)</div>\n"
        case .known: "<p class=\"quiet\">Your login may read and not act.</p>\n"
        case .stranger:
            "<p class=\"quiet\"><a href=\"/login\">Log in</a> to act: <code>pipectl pages</code> on the build box.</p>\n"
        }
    }

    private func buttons(of detail: RunDetail) -> HTML {
        let run = detail.summary
        let path = ["runs", "\(run.id)"]
        var html: HTML = ""
        for step in detail.live?.steps ?? [] where step.awaitsApproval {
            let fields = [("step", step.record.name)]
            html += PageForms.button("Approve \(step.record.name)", to: path + ["approve"], fields)
            html += PageForms.rejection("Reject \(step.record.name)", to: path + ["reject"], fields)
        }
        if run.heldFor != nil, run.state != .running {
            html += PageForms.button("Approve", to: path + ["approve"])
            html += PageForms.rejection("Reject", to: path + ["reject"])
        }
        guard run.state == .ended else { return html + PageForms.button("Cancel", to: path + ["cancel"]) }
        html += PageForms.button("Rerun", to: path + ["rerun"])
        if run.stepCounts.failed > 0 {
            html += PageForms.button("Rerun failed steps", to: path + ["rerun"], [("failed", "1")])
        }
        if run.verdict == .failed, run.change != nil, !run.isAside {
            html += PageForms.button("Fix", to: path + ["fix"])
        }
        return html
    }

    private func buttons(of change: ChangeRecord, in repository: String) -> HTML {
        guard [.open, .stale].contains(change.state) else { return "" }
        let path = ["repositories", repository]
        return PageForms.button(
            "Land \(change.head.prefix(10))", to: path + ["changes", change.name, "land"], [("head", change.head)])
            + Piece.link(path + ["start"], query: [("change", change.name)], "Run a workflow")
    }
}
