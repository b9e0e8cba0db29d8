import Control
import Foundation
import PageMarkup
import Reports
import Results
import Store
import TerminalText

/// Feeds of runs and releases, and badges of branches.
struct PageFeeds: Sendable {
    let host: PagesHost

    func answer(_ request: PageRequest) async throws -> PageResponse {
        switch (request.path[0], request.path.count) {
        case ("feeds", 2) where request.path[1] == "runs.atom":
            var query = RunsQuery(
                repository: request.value("repository"), branch: request.value("branch"), states: [.ended], limit: 50)
            query.hidesBackground = true
            let runs = try await host.runs(query)
            return feed(
                "Runs", request,
                runs.map { run in
                    let title = "\(run.verdict?.title ?? ""): \(run.workflow) of \(run.repository), run \(run.id)"
                    return (title, ["runs", "\(run.id)"], run.endedAt ?? run.createdAt, run.reason ?? "")
                })
        case ("feeds", 2) where request.path[1] == "releases.atom":
            // Drafts are for whoever approves them.
            let releases = try await host.index.versions(of: request.value("repository"), limit: 100)
                .filter { $0.state != .draft }
            return feed(
                "Releases", request,
                releases.map { release in
                    let title = "\(release.repository) \(release.version): \(release.state.rawValue)"
                    let updated = (release.publications.map(\.updatedAt) + [release.madeAt]).max() ?? release.madeAt
                    return (title, ["releases", release.repository, release.version], updated, release.notes)
                })
        case ("badges", 3) where request.path[2].hasSuffix(".svg"):
            return try await badge(repository: request.path[1], branch: String(request.path[2].dropLast(4)), request)
        default:
            throw PageProblem(
                .notFound, "there are /feeds/runs.atom, /feeds/releases.atom and /badges/REPOSITORY/BRANCH.svg")
        }
    }

    private typealias Entry = (title: String, page: [String], updated: Date, summary: String)

    /// https://www.rfc-editor.org/rfc/rfc4287
    private func feed(_ title: StaticString, _ request: PageRequest, _ entries: [Entry]) -> PageResponse {
        let root = Self.escape("http://\(request.headers["host"] ?? "localhost")")
        let updated = entries.map(\.updated).max() ?? Date(timeIntervalSince1970: 0)
        var xml = """
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom"><title>\(title)</title><id>\(root)/feeds/\(Self.escape(request.path[1]))</id>
            <updated>\(updated.iso8601)</updated><author><name>pipectl</name></author>

            """
        for entry in entries {
            let lines = entry.summary.prefix(4_000).split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
                .map { Self.escape(String($0)) }
            let address = root + Piece.href(entry.page).text
            xml += """
                <entry><title>\(Self.escape(entry.title))</title><id>\(address)</id>
                <link href="\(address)"/><updated>\(entry.updated.iso8601)</updated>
                <summary>\(lines.joined(separator: "\n"))</summary></entry>

                """
        }
        return PageResponse(type: "application/atom+xml; charset=utf-8", Array((xml + "</feed>\n").utf8))
    }

    /// The newest verdict of a branch, of one workflow where the query names it.
    private func badge(repository: String, branch: String, _ request: PageRequest) async throws -> PageResponse {
        var query = RunsQuery(
            repository: repository, workflow: request.value("workflow"), branch: branch, states: [.ended], limit: 50)
        query.hidesBackground = true
        let run = try await host.runs(query).first { $0.change == nil && $0.verdict != .superseded }
        let label = request.value("workflow") ?? branch
        let word = run?.verdict?.title ?? "no run"
        let colour =
            switch run?.verdict {
            case .passed: "#1a7f37"
            case .flaky, .needsApproval: "#8a5d00"
            case .failed, .conflict, .definitionError, .infrastructure: "#cf222e"
            default: "#59636e"
            }
        let (left, right) = (Self.width(label), Self.width(word))
        let svg = """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(left + right)" height="20" role="img" aria-label="\(Self.escape("\(label): \(word)"))">
            <title>\(Self.escape("\(label): \(word)"))</title>
            <rect width="\(left)" height="20" fill="#333"/><rect x="\(left)" width="\(right)" height="20" fill="\(colour)"/>
            <g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
            <text x="\(left / 2)" y="14">\(Self.escape(label))</text><text x="\(left + right / 2)" y="14">\(Self.escape(word))</text></g></svg>

            """
        return PageResponse(type: "image/svg+xml", Array(svg.utf8), headers: ["cache-control": "no-cache"])
    }

    private static func width(_ text: String) -> Int { min(text.count, 60) * 7 + 12 }

    private static func escape(_ text: String) -> String { ANSIHTML.escape(TerminalText.name(text, limit: 1_000)) }
}

/// Figures for Prometheus. https://prometheus.io/docs/instrumenting/exposition_formats/
struct PageMetrics: Sendable {
    let host: PagesHost

    func answer(readers: Int) async throws -> PageResponse {
        let status = try await host.status()
        var text = ""
        func gauge(_ name: String, _ help: String, _ value: Int) {
            text += "# HELP pipectl_\(name) \(help)\n# TYPE pipectl_\(name) gauge\npipectl_\(name) \(value)\n"
        }
        gauge("slots", "Steps that may run at the same time.", status.slots)
        gauge("runs_running", "Live runs.", status.running.count)
        gauge("runs_queued", "Queued runs.", status.queued.count)
        gauge("runs_held", "Runs that need approval.", status.held.count)
        gauge(
            "steps_running", "Steps that run.",
            status.running.reduce(0) { $0 + $1.steps.count { $0.record.status == .running } })
        gauge("repositories", "Watched repositories.", status.repositories.count(where: \.isWatched))
        gauge("obstructed", "1 if no run can start.", status.obstacle == nil ? 0 : 1)
        if let free = status.freeBytes { gauge("disk_free_bytes", "Free bytes on the disk of the state.", free) }
        gauge("page_readers", "Browsers that follow a live page.", readers)
        return PageResponse(type: "text/plain; version=0.0.4; charset=utf-8", Array(text.utf8))
    }
}
