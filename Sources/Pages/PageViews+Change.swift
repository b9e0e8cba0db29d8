import Control
import Foundation
import PageMarkup
import Pipeline
import Reports
import Results
import Store

/// A change: what was pushed and what each push brought, what stands against it, and who has it.
extension PageViews {
    /// Pushes that are shown, and those of them whose reports are read.
    private static let (mostPushes, mostRead) = (20, 4)

    func change(_ name: String, of repository: String) async throws -> Page {
        guard let change = try await host.index.change(name, of: repository) else {
            throw PageProblem(.notFound, "there is no change \"\(name)\" of \(repository)")
        }
        var query = query(repository: repository, limit: 200)
        query.change = name
        let runs = try await host.runs(query)
        var heads: [String] = []
        for run in runs where !heads.contains(run.head) { heads.append(run.head) }
        let reports = await reports(of: heads.prefix(Self.mostRead), runs)
        var sections = [Page.Section("about", "", Self.about(change))]
        let task = try await host.index.task(withChange: name, repository: repository)
        if let section = taskSection("Made for", [task].compactMap { $0 }) { sections.append(section) }
        if let commit = change.landedCommit {
            sections.append(.init("delivery", "Delivery", try await delivery(of: commit, in: repository)))
        }
        if let newest = heads.first.flatMap({ reports[$0] }) {
            sections.append(.init("review", "Review", Self.review(newest)))
            sections.append(.init("findings", "Findings", Self.findings(newest)))
        }
        sections.append(.init("conflicts", "Conflicts with other open changes", try await conflicts(name, repository)))
        // A heading without anything below it says nothing.
        sections.removeAll { $0.html.isEmpty }
        for (place, head) in heads.prefix(Self.mostPushes).enumerated() {
            let number = heads.count - place
            let own = runs.filter { $0.head == head }
            var html: HTML = ""
            if let title = own.first?.title { html += "<p>\(title)</p>\n" }
            html += Self.news(reports[head] ?? [])
            html += Piece.table(own, "Runs of push \(number)", none: "There is no run.", showsRepository: false)
            sections.append(.init("push\(number)", "Push \(number): \(head.prefix(10))", html))
        }
        return Page("Change \(name) of \(repository)", command: "pipectl runs --change \(name.shellQuoted)", sections)
    }

    private static func about(_ change: ChangeRecord) -> HTML {
        var head: HTML = "<p><b>\(change.title)</b></p>\n<p>by \(change.author), into \(change.target): "
        head += "\(change.state.rawValue)"
        if let commit = change.landedCommit { head += " as \(Piece.commit(commit))" }
        return head + "</p>\n"
    }

    /// The reports of the newest run of each workflow at these commits, by commit.
    private func reports(of heads: some Sequence<String>, _ runs: [RunSummary]) async -> [String: [Report]] {
        var found: [String: [Report]] = [:]
        for head in heads {
            var workflows: Set<String> = []
            for run in runs where run.head == head && run.isArchived && workflows.insert(run.workflow).inserted {
                guard workflows.count <= 5, let report = try? await host.report(run.id) else { continue }
                found[head, default: []].append(report)
            }
        }
        return found
    }

    // MARK: Parts

    /// The releases that have a commit, and where each was published.
    private func delivery(of commit: String, in repository: String) async throws -> HTML {
        let releases = try await host.releases(commit, repository)
        var html = Piece.list(releases.prefix(5), "cards", none: "No release has it yet.") { release in
            var entry: HTML = "<p><b>"
            entry += Piece.link(["releases", repository, release.version], "\(release.version)")
            entry += "</b> \(release.state.rawValue) <span class=\"quiet\">made by \(Piece.run(release.run)) on "
            entry += "\(Piece.time(release.madeAt))</span></p>\n"
            return entry + Self.banner(release) + Self.publications(release)
        }
        if releases.count > 5 {
            html += "<p class=\"quiet\">and \(releases.count - 5) later: "
            html += Piece.link(["releases"], query: [("repository", repository)], "all releases") + "</p>\n"
        }
        return html
    }

    /// What the runs of a push found that the target does not have.
    private static func news(_ reports: [Report]) -> HTML {
        var lines: [HTML] = []
        for report in reports {
            guard let comparison = report.comparison else { continue }
            let counts: [(Int, String)] = [
                (comparison.newlyFailing.count, "newly failing"), (comparison.fixed?.count ?? 0, "fixed"),
                (comparison.added?.count ?? 0, "new"), (comparison.vanished.count, "removed"),
                (comparison.newlySkipped.count, "newly skipped"), (comparison.slower?.count ?? 0, "slower"),
            ]
            var parts = counts.filter { $0.0 > 0 }.map { "\(Figures.count($0.0, "test")) \($0.1)" }
            if let new = comparison.newFindings, !new.isEmpty { parts.append(Figures.count(new.count, "new finding")) }
            guard !parts.isEmpty else { continue }
            var line: HTML = "<b>\(report.workflow)</b>: \(parts.joined(separator: ", ")), compared with "
            line += Piece.run(comparison.against)
            for test in comparison.newlyFailing.prefix(5) { line += "<br><span class=\"quiet\">✗ \(test)</span>" }
            lines.append(line)
        }
        return lines.isEmpty ? "" : Piece.list(lines, none: "") { $0 }
    }

    private static func findings(_ reports: [Report]) -> HTML {
        let all = reports.flatMap(\.findings)
        guard !all.isEmpty else { return "" }
        var html = Piece.list(all.prefix(30), none: "") { finding in
            var entry: HTML = "<b class=\"tag\">\(finding.severity.rawValue)</b> "
            if let file = finding.file {
                entry += "<code>\(file)\(finding.line.map { ":\($0)" } ?? "")</code> "
            }
            return entry + "\(text: String(finding.message.prefix(500))) <span class=\"quiet\">\(finding.rule)</span>"
        }
        if all.count > 30 { html += "<p class=\"quiet\">and \(all.count - 30) more</p>\n" }
        return html
    }

    /// What reviewers say about the change, and what became of it.
    private static func review(_ reports: [Report]) -> HTML {
        var html: HTML = ""
        for step in reports.flatMap(\.steps) {
            guard let review = step.review else { continue }
            html +=
                "<p><b>\(step.name)</b> \(Piece.sign(step.status)), reviewed up to \(Piece.commit(review.head))</p>\n"
            html += Piece.list(review.findings.prefix(30), none: "It has no findings.") { finding in
                var entry: HTML = "<b class=\"tag\">\(finding.fate.rawValue)</b> \(finding.severity.rawValue): "
                if let file = finding.file {
                    entry += "<code>\(file)\(finding.line.map { ":\($0)" } ?? "")</code> "
                }
                return entry + "\(text: String(finding.message.prefix(500)))"
            }
        }
        return html
    }

    private func conflicts(_ name: String, _ repository: String) async throws -> HTML {
        let conflicts = try await host.index.earlyConflicts(of: name, in: repository)
        guard !conflicts.isEmpty else { return "" }
        return Piece.list(conflicts.prefix(50), none: "") { conflict in
            let other = conflict.change == name ? conflict.other : conflict.change
            return "\(Piece.change(other, of: repository)) in \(conflict.paths.prefix(5).joined(separator: ", "))"
        }
    }
}
