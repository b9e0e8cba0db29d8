import Client
import Control
import Foundation
package import MCP
import Reports
import Results
import Store
import TerminalText

/// Reports of runs, and the JSON schemas of answers, as MCP resources.
package struct ReportResources: ResourceProvider {
    /// Maximum size of a resource in bytes; tools return parts of larger ones.
    private static let most = 1 << 20

    let toolbox: Toolbox

    package init(toolbox: Toolbox) { self.toolbox = toolbox }

    private static let forms: [(name: String, title: String, type: String)] = [
        ("report.md", "Report", "text/markdown"), ("report.json", "Report as JSON", "application/json"),
        ("tests.xml", "Tests as JUnit XML", "application/xml"), ("bundle.md", "Bundle", "text/markdown"),
    ]

    /// The URIs of the reports and bundles of any run.
    package var templates: [Resource] {
        Self.forms.map { form in
            Resource(
                uri: "pipectl://runs/{run}/\(form.name)", name: form.name, title: "\(form.title) of a run",
                type: form.type)
        }
    }

    /// The schemas, and the reports of the newest archived runs.
    package func resources() async throws -> [Resource] {
        let schemas = Self.schemas.keys.sorted().map { name in
            Resource(
                uri: "pipectl://schemas/\(name)", name: name, title: "Schema of \(name.prefix { $0 != "." })",
                type: "application/schema+json")
        }
        let query = RunsQuery(states: [.ended], limit: 20)
        let runs = try await toolbox.ask(.runs(query)) { if case .runs(let runs) = $0 { runs } else { nil } }
        return schemas
            + runs.filter(\.isArchived).map { run in
                let what = run.change.map { "change \($0)" } ?? run.branch ?? run.ref
                return Resource(
                    uri: "pipectl://runs/\(run.id)/report.md", name: "run \(run.id)",
                    title: "Run \(run.id) \(run.workflow), \(what.prefix(100)): \(run.verdict?.title ?? "")",
                    type: "text/markdown")
            }
    }

    /// The text behind a URI; nil if the URI names nothing here.
    package func read(_ uri: String) async throws -> (text: String, type: String)? {
        let prefix = "pipectl://"
        guard uri.hasPrefix(prefix) else { return nil }
        let parts = uri.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if parts.count == 2, parts[0] == "schemas" {
            return Self.schemas[parts[1]].map { ($0.text, "application/schema+json") }
        }
        guard parts.count == 3, parts[0] == "runs", let id = RunID(parts[1]), id > 0,
            let form = Self.forms.first(where: { $0.name == parts[2] })
        else { return nil }
        do {
            let text = try await text(id, form.name)
            guard text.utf8.count <= Self.most else {
                throw ToolFailure(
                    "\(uri) has \(text.utf8.count) bytes and a resource at most \(Self.most): get_bundle, list_tests and tail_log read parts of it."
                )
            }
            return (text, form.type)
        } catch let error as ArchiveError where error.code == .unknownRun {
            return nil
        }
    }

    private func text(_ id: RunID, _ form: String) async throws -> String {
        if form == "bundle.md" {
            return try await BundleSource(toolbox.access, run: id).text(.markdown, bytes: Toolbox.standardBudget)
        }
        let document = try await ReportLoader(toolbox.state).document(id)
        switch form {
        case "report.json": return document.render(.json)
        case "tests.xml": return document.render(.junit)
        default: return DataMark.document(document.render(.markdown))
        }
    }

    /// By the last part of their URI.
    package static var schemas: [String: JSON] {
        var verdict = Toolbox.verdictSchema.object ?? [:]
        verdict["$schema"] = "https://json-schema.org/draft/2020-12/schema"
        verdict["title"] = "The answer of wait_for_verdict and of pipectl wait --json"
        var schemas = ["verdict.json": JSON.object(verdict)]
        schemas["bundle.json"] = try? JSON(parsing: BundleSchema.text.utf8)
        return schemas
    }
}
