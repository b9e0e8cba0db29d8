import Control
import Foundation
import PageMarkup
import Pipeline
import Reports
import Results

/// The form that runs a workflow with its parameters.
struct StartPage: Sendable {
    let host: PagesHost

    /// The form of a repository: first which workflow and what it runs on, then its parameters.
    func page(_ repository: String, _ request: PageRequest) async throws -> Page {
        let status = try await host.status()
        guard let known = status.repositories.first(where: { $0.name == repository }) else {
            throw PageProblem(.notFound, "there is no repository \"\(repository)\"")
        }
        var form: HTML
        if request.value("workflow") != nil {
            form = try await parameters(repository, request)
        } else {
            form = try await choice(repository, target: known.target ?? "main", request)
        }
        if request.reader != .operator {
            form +=
                "<p class=\"quiet\"><a href=\"/login\">Log in</a> to act: <code>pipectl pages</code> on the build box.</p>\n"
        }
        var page = Page(
            "Run a workflow of \(repository)", command: "pipectl run WORKFLOW --repository \(repository.shellQuoted)",
            [.init("start", "", form)])
        page.isLive = false
        return page
    }

    private func choice(_ repository: String, target: String, _ request: PageRequest) async throws -> HTML {
        let runs = try await host.runs(RunsQuery(repository: repository, limit: 500))
        let workflows = Set(runs.map(\.workflow)).sorted()
        var html: HTML =
            "<form class=\"filter\" method=\"get\" action=\"\(Piece.href(["repositories", repository, "start"]))\">\n"
        html +=
            "<label>workflow <input name=\"workflow\" list=\"workflows\" required></label>\n<datalist id=\"workflows\">"
        for name in workflows.prefix(200) { html += "<option value=\"\(name)\"></option>" }
        html += "</datalist>\n"
        if let change = request.value("change") {
            html += "<label>change <input name=\"change\" value=\"\(change)\" required></label>\n"
        } else {
            html += "<label>branch, tag or commit <input name=\"revision\" value=\"\(target)\" required></label>\n"
        }
        return html + "<button>Go on</button></form>\n"
    }

    private func parameters(_ repository: String, _ request: PageRequest) async throws -> HTML {
        var fields = PageActions.Fields(PageForm())
        fields.workflow = request.value("workflow")
        (fields.change, fields.revision) = (request.value("change"), request.value("revision"))
        let start = try PageActions.start(in: repository, fields)
        let declared = try await host.ask(.parameters(start)) {
            if case .parameters(let parameters) = $0 { parameters } else { nil }
        }
        let fixed = [
            ("workflow", fields.workflow), ("change", fields.change), ("revision", fields.revision),
        ].compactMap { name, value in value.map { (name, $0) } }
        let subject = fields.change.map { "change \($0)" } ?? fields.revision ?? ""
        var content: HTML = "<p>\(start.workflow) on \(subject)</p>\n"
        for parameter in declared { content += Self.field(parameter) }
        if request.reader == .operator { content += "<button>Run</button>\n" }
        return PageForms.form(to: ["repositories", repository, "runs"], fixed, content)
    }

    /// The field of one parameter, as its type needs it.
    private static func field(_ parameter: ParameterDeclaration) -> HTML {
        let (name, value) = (PageForm.parameterPrefix + parameter.name, parameter.defaultValue ?? "")
        let required: HTML = parameter.defaultValue == nil ? " required" : ""
        var html: HTML = "<p class=\"filter\"><label>\(parameter.name) "
        switch parameter.kind {
        case .string: html += "<input name=\"\(name)\" value=\"\(text: value)\"\(required)>"
        case .integer:
            html += "<input name=\"\(name)\" value=\"\(value)\" inputmode=\"numeric\" pattern=\"-?[0-9]+\"\(required)>"
        case .bool: html += select(name, ["true", "false"], value, isRequired: parameter.defaultValue == nil)
        case .choice: html += select(name, parameter.choices, value, isRequired: parameter.defaultValue == nil)
        }
        html += "</label>"
        if !parameter.help.isEmpty { html += " <span class=\"quiet\">\(parameter.help)</span>" }
        return html + "</p>\n"
    }

    private static func select(_ name: String, _ choices: [String], _ chosen: String, isRequired: Bool) -> HTML {
        var html: HTML = "<select name=\"\(name)\"\(isRequired ? " required" as HTML : "")>"
        if isRequired { html += "<option value=\"\">choose</option>" }
        for choice in choices {
            html += "<option value=\"\(choice)\"\(choice == chosen ? " selected" as HTML : "")>\(choice)</option>"
        }
        return html + "</select>"
    }
}
