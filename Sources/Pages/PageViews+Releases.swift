import Foundation
import Control
import PageMarkup
import Reports
import Pipeline
import Results
import Store
import TerminalText

/// Releases: what is in each version, who has it, and how it is installed.
extension PageViews {

    func releases(_ request: PageRequest) async throws -> Page {
        let repository = request.value("repository")
        let releases = try await host.index.releases(
            of: repository, before: request.value("before").flatMap(Int64.init), limit: 30)
        var html = Piece.list(
            releases, "cards",
            none: "There is no release yet: no workflow that a merge or a tag starts, and no change, has run."
        ) { release in
            let run = release.run
            var entry: HTML = "<p>\(Piece.verdict(run)) <b>\(Piece.run(run.id))</b> \(run.workflow) of "
            entry += "\(Piece.repository(run.repository)), \(Piece.subject(run)) at \(Piece.commit(run.head))"
            entry += " <span class=\"quiet\">\(Piece.time(run.endedAt ?? run.startedAt ?? run.createdAt))</span></p>\n"
            if !release.landed.isEmpty {
                entry += "<p>Landed: "
                for (place, change) in release.landed.prefix(50).enumerated() {
                    if place > 0 { entry += ", " }
                    entry += Piece.change(change.name, of: run.repository)
                }
                entry += "</p>\n"
            }
            if !release.artifacts.isEmpty {
                entry += "<ul class=\"quiet\">\n"
                for artifact in release.artifacts.prefix(20) {
                    entry += "<li><code>"
                    entry += Piece.link(
                        ["runs", "\(run.id)", "artifacts", artifact.sha256, artifact.name], "\(artifact.path)")
                    entry += "</code> \(Figures.size(artifact.bytes)), sha256 "
                    entry += "<code class=\"all\">\(artifact.sha256)</code></li>\n"
                }
                entry += "</ul>\n"
            }
            return entry
        }
        if releases.count == 30, let last = releases.last {
            let kept = repository.map { [("repository", $0)] } ?? []
            html += "<p>"
            html += Piece.link(["releases"], query: kept + [("before", "\(last.run.id)")], "Older releases")
            html += "</p>\n"
        }
        let command = "pipectl releases" + (repository.map { " --repository \($0.shellQuoted)" } ?? "")
        var sections: [Page.Section] = [.init("releases", "Runs that release", html)]
        if request.value("before") == nil {
            var versions = try await host.index.versions(of: repository, limit: 30)
            for place in versions.indices { versions[place] = try await host.detail(versions[place]).release }
            if !versions.isEmpty { sections.insert(.init("versions", "Versions", Self.table(versions)), at: 0) }
        }
        var page = Page("Releases", command: command, sections)
        page.isLive = request.value("before") == nil
        return page
    }

    private static func table(_ versions: [ReleaseRecord]) -> HTML {
        var html: HTML = "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"Versions\"><table>\n"
        html += "<thead><tr><th scope=\"col\">Version</th><th scope=\"col\">Repository</th><th scope=\"col\">State</th>"
        html +=
            "<th scope=\"col\">Where</th><th scope=\"col\">Commit</th><th scope=\"col\">Made</th></tr></thead><tbody>\n"
        for release in versions {
            html += "<tr><th scope=\"row\">"
            html += Piece.link(["releases", release.repository, release.version], "\(release.version)")
            html += "</th><td>\(Piece.repository(release.repository))</td><td>\(release.standing)</td><td>"
            for (place, publication) in release.publications.enumerated() {
                html += "\(place > 0 ? ", " : "")\(publication.step): \(publication.state.rawValue)"
            }
            html += "</td><td>\(Piece.commit(release.commit))</td><td>\(Piece.time(release.madeAt))</td></tr>\n"
        }
        return html + "</tbody></table></div>\n"
    }

    /// - Throws: ``PageProblem`` if there is no such release.
    func known(_ version: String, of repository: String) async throws -> ReleaseRecord {
        if let release = try await host.index.release(version, of: repository) { return release }
        throw PageProblem(.notFound, "\(repository) has no release \"\(version)\"")
    }

    /// - Throws: ``PageProblem`` if nothing is published.
    func latest(of repository: String) async throws -> ReleaseRecord {
        if let release = try await host.latest(repository) { return release }
        throw PageProblem(.notFound, "\(repository) has no release that is published and not withdrawn")
    }

    /// One version.
    func release(_ version: String, of repository: String) async throws -> Page {
        let release = try await host.detail(try await known(version, of: repository)).release
        var about: HTML =
            "<p>\(Piece.repository(repository)) <b>\(release.version)</b>, build \(release.buildNumber), at "
        about += "\(Piece.commit(release.commit)), made by \(Piece.run(release.run)) of \(release.workflow) on "
        about += "\(Piece.time(release.madeAt)): <b>\(release.standing)</b></p>\n"
        let fixed = try await host.index.tasks(TaskFilter(repository: repository, limit: 200))
            .filter { $0.release == version }
        let tasks = taskSection("Tasks that it ends", fixed).map { [$0] } ?? []
        let sections: [Page.Section] =
            [.init("about", "", Self.banner(release) + about)] + tasks + [
                .init("delivery", "Who has it", Self.publications(release)),
                .init("notes", "What is new", "<pre class=\"notes\">\(text: release.notes)</pre>\n"),
                .init("files", "Files", Self.files(release)),
            ]
        return Page(
            "\(repository) \(release.version)",
            command: "pipectl release show \(version.shellQuoted) --repository \(repository.shellQuoted)", sections)
    }

    /// What one must know first: that it was withdrawn, or waits for a person.
    static func banner(_ release: ReleaseRecord) -> HTML {
        if release.state == .yanked {
            let why = release.reason.map { ": \($0)" } ?? ""
            return "<p class=\"notice\">It was withdrawn\(text: why)</p>\n"
        }
        guard let gate = release.gate else { return "" }
        return "<p class=\"notice\">\(Piece.link(["runs", "\(gate.run)"], "\(gate.inWords)"))</p>\n"
    }

    static func publications(_ release: ReleaseRecord) -> HTML {
        let none: StaticString = release.state == .yanked ? "It was published nowhere." : "It is not published yet."
        return Piece.list(release.publications, "cards", none: none) { publication in
            var entry: HTML = "<p><b>\(publication.step)</b>: \(publication.state.rawValue) \(publication.destination) "
            entry += "<span class=\"quiet\">\(Piece.time(publication.updatedAt))</span></p>\n"
            if let reason = publication.reason { entry += "<p>\(reason)</p>\n" }
            // Only such an address can be followed without harm.
            if let address = publication.address, address.hasPrefix("https://") || address.hasPrefix("http://") {
                entry +=
                    release.state == .yanked
                    ? "<p><code>\(address)</code></p>\n"
                    : "<p><a href=\"\(address)\" rel=\"noreferrer\">\(address)</a></p>\n"
            }
            // Nobody is to install what was withdrawn.
            guard release.state != .yanked, let install = publication.install else { return entry }
            // Of apps it is a page for the device.
            guard install.hasPrefix("https://") else {
                return entry + "<p><code class=\"all\">\(install)</code></p>\n"
            }
            entry += "<p><a href=\"\(install)\" rel=\"noreferrer\">Install it on this device</a></p>\n"
            guard let code = QRCode(install) else { return entry }
            return entry + "<p class=\"quiet\">On another device, point its camera here:</p>\n<p>\(code.svg)</p>\n"
        }
    }

    private static func files(_ release: ReleaseRecord) -> HTML {
        // Of a version that was withdrawn, they are there on the command line.
        let names = release.state == .yanked ? [] : Set(release.fileNames)
        func link(_ name: String) -> HTML {
            guard names.contains(name) else { return "\(name)" }
            return Piece.link(["releases", release.repository, release.version, "files", name], "\(name)")
        }
        var html = Piece.list(release.files, "quiet", none: "It has no files.") { file in
            "<code>\(link(file.name))</code> \(Figures.size(file.bytes)), sha256 <code class=\"all\">\(file.sha256)</code>"
        }
        html += "<p class=\"quiet\">With them come <code>\(link("NOTES.md"))</code> and, if it is signed, "
        html += "<code>\(link("release.json"))</code>, the "
        html += "signed list of all of them\(release.state == .draft ? ", once publishing begins" : "").</p>\n"
        html += "<p class=\"quiet\">Copy and check them: <code class=\"all\">"
        html += "pipectl release files \(release.version.shellQuoted) --repository \(release.repository.shellQuoted) "
        return html + "--output dist &amp;&amp; pipectl verify dist --key release.pub</code></p>\n"
    }
}
