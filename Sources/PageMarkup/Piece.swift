package import Foundation
package import Reports
package import Results
import TerminalText

/// Pieces that several pages have.
package enum Piece {
    package static func link(_ path: [String], query: [(String, String)] = [], _ text: HTML) -> HTML {
        "<a href=\"\(href(path, query))\">\(text)</a>"
    }

    /// A path of this site. All of it is encoded, so that it is safe in an attribute.
    package static func href(_ path: [String], _ query: [(String, String)] = []) -> HTML {
        var text = "/" + path.map(PageAddress.part).joined(separator: "/")
        if !query.isEmpty {
            text += "?" + query.map { "\(PageAddress.part($0))=\(PageAddress.part($1))" }.joined(separator: "&amp;")
        }
        return HTML(trusted: text)
    }

    package static func run(_ id: RunID) -> HTML { link(["runs", "\(id)"], "run \(id)") }

    package static func repository(_ name: String) -> HTML { link(["repositories", name], "\(name)") }

    package static func change(_ name: String, of repository: String) -> HTML {
        link(["repositories", repository, "changes", name], "change \(name)")
    }

    package static func commit(_ id: String) -> HTML { "<code title=\"\(id)\">\(String(id.prefix(10)))</code>" }

    package static func time(_ date: Date) -> HTML {
        "<time datetime=\"\(date.iso8601)\">\(Figures.dateAndTime(date))</time>"
    }

    /// The verdict or state of a run: a symbol, which has a colour, and a word.
    package static func verdict(_ run: RunSummary) -> HTML {
        if run.heldFor != nil { return sign(.needsApproval) }
        guard let verdict = run.verdict else {
            return "<span class=\"v v-live\"><span aria-hidden=\"true\">\(run.state == .running ? "▶" : "·")</span> "
                + "\(run.state.rawValue)</span>"
        }
        return sign(verdict)
    }

    package static func sign(_ verdict: Verdict) -> HTML {
        "<span class=\"v v-\(HTML(trusted: verdict.rawValue))\"><span aria-hidden=\"true\">\(Wording.symbol(verdict))"
            + "</span> \(verdict.title)</span>"
    }

    package static func sign(_ status: StepStatus) -> HTML { StepGraphPicture.sign(status) }

    /// What a run is about: a change, a branch or a tag.
    package static func subject(_ run: RunSummary) -> HTML {
        if let task = run.task { return link(["tasks", "\(task.task)"], "\(task.inWords)") }
        if let change = run.change { return Self.change(change, of: run.repository) }
        let name = run.ref.hasPrefix("refs/heads/") ? run.ref.dropFirst(11) : run.ref.dropFirst(0)
        return "\(String(name.hasPrefix("refs/tags/") ? "tag " + name.dropFirst(10) : name))"
    }

    /// A list with an entry for each item; a sentence where there are none.
    ///
    /// - Parameter kind: The class of the list.
    package static func list<Item>(
        _ items: some Collection<Item>, _ kind: StaticString = "rows", none: StaticString,
        _ entry: (Item) throws -> HTML
    ) rethrows -> HTML {
        guard !items.isEmpty else { return "<p class=\"quiet\">\(HTML(stringLiteral: none))</p>\n" }
        var html: HTML = "<ul class=\"\(HTML(stringLiteral: kind))\">\n"
        for item in items { html += "<li>\(try entry(item))</li>\n" }
        return html + "</ul>\n"
    }

    /// A table of runs; a sentence where there are none.
    ///
    /// - Parameter label: The table's name, which no other one of the page has.
    package static func table(
        _ runs: [RunSummary], _ label: String, none: StaticString, showsRepository: Bool = true
    ) -> HTML {
        guard !runs.isEmpty else { return "<p class=\"quiet\">\(HTML(stringLiteral: none))</p>\n" }
        var html: HTML = """
            <div class="scroll" role="region" tabindex="0" aria-label="\(label)"><table>
            <thead><tr><th scope="col">Run</th><th scope="col">Verdict</th><th scope="col">Workflow</th>
            """
        if showsRepository { html += "<th scope=\"col\">Repository</th>" }
        html += """
            <th scope="col">About</th><th scope="col">Commit</th><th scope="col">Took</th><th scope="col">When</th></tr></thead>
            <tbody>

            """
        for run in runs {
            html += "<tr><td>\(link(["runs", "\(run.id)"], "\(run.id)"))</td><td>\(verdict(run))</td>"
            html += "<td>\(run.workflow)</td>"
            if showsRepository { html += "<td>\(repository(run.repository))</td>" }
            html +=
                "<td>\(subject(run)) <span class=\"quiet\">\(run.title ?? "")</span></td><td>\(commit(run.head))</td>"
            html += "<td class=\"n\">\(run.duration.map(Figures.duration) ?? "")</td>"
            html += "<td>\(time(run.endedAt ?? run.startedAt ?? run.createdAt))</td></tr>\n"
        }
        html += "</tbody></table></div>\n"
        return html
    }

    /// The last runs as bars, the newest on the right: the height is the duration, the colour the verdict.
    package static func sparkline(_ newestFirst: [RunSummary]) -> HTML {
        let runs = newestFirst.filter { $0.verdict != nil }.prefix(40).reversed()
        guard !runs.isEmpty else { return "" }
        let most = max(runs.compactMap(\.duration).max() ?? 0, 0.001)
        let width = runs.count * 6
        let failed = runs.count { $0.verdict == .failed }
        var html: HTML = """
            <svg class="spark" role="img" width="\(width)" height="24" viewBox="0 0 \(width) 24">\
            <title>the last \(runs.count) runs: \(failed) failed</title>
            """
        for (place, run) in runs.enumerated() {
            let height = max(4, Int((run.duration ?? 0) / most * 24))
            html += "<rect class=\"b-\(HTML(trusted: run.verdict?.rawValue ?? ""))\" x=\"\(place * 6)\" "
            html += "y=\"\(24 - height)\" width=\"5\" height=\"\(height)\"/>"
        }
        html += "</svg>"
        return html
    }
}
