import Control
import Foundation
import Results
import Store
import TerminalText

/// Feeds of runs, and badges of branches.
struct PageFeeds: Sendable {
    let host: PagesHost

    func answer(_ request: PageRequest) async throws -> PageResponse {
        switch (request.path[0], request.path.count) {
        case ("feeds", 2) where request.path[1] == "runs.atom":
            var query = RunsQuery(
                repository: request.value("repository"), branch: request.value("branch"), states: [.ended], limit: 50)
            query.hidesBackground = true
            return feed("Runs", request, try await host.runs(query))
        case ("feeds", 2) where request.path[1] == "releases.atom":
            let releases = try await host.index.releases(of: request.value("repository"), limit: 50)
            return feed("Releases", request, releases.map(\.run).filter { $0.state == .ended })
        case ("badges", 3) where request.path[2].hasSuffix(".svg"):
            return try await badge(repository: request.path[1], branch: String(request.path[2].dropLast(4)), request)
        default:
            throw PageProblem(
                .notFound, "there are /feeds/runs.atom, /feeds/releases.atom and /badges/REPOSITORY/BRANCH.svg")
        }
    }

    /// https://www.rfc-editor.org/rfc/rfc4287
    private func feed(_ title: StaticString, _ request: PageRequest, _ runs: [RunSummary]) -> PageResponse {
        let root = "http://\(request.headers["host"] ?? "localhost")"
        let updated = runs.compactMap(\.endedAt).max() ?? Date(timeIntervalSince1970: 0)
        var xml = """
            <?xml version="1.0" encoding="utf-8"?>
            <feed xmlns="http://www.w3.org/2005/Atom"><title>\(title)</title><id>\(Self.escape(root))/feeds/\(Self.escape(request.path[1]))</id>
            <updated>\(updated.iso8601)</updated><author><name>pipectl</name></author>

            """
        for run in runs {
            let title = "\(run.verdict?.title ?? ""): \(run.workflow) of \(run.repository), run \(run.id)"
            xml += """
                <entry><title>\(Self.escape(title))</title><id>\(Self.escape(root))/runs/\(run.id)</id>
                <link href="\(Self.escape(root))/runs/\(run.id)"/><updated>\((run.endedAt ?? run.createdAt).iso8601)</updated>
                <summary>\(Self.escape(run.reason ?? ""))</summary></entry>

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
