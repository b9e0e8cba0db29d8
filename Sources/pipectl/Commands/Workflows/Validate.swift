import ArgumentParser
import Client
import Engine
import Pipeline
import PlanRules
import WorkflowPrograms
import StateFiles
import TerminalText

struct Validate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "validate",
        abstract: "Compiles the workflows of a working tree and reports all mistakes.")

    @OptionGroup var state: StateOptions
    @Argument(help: .hidden) var path: String?
    @OptionGroup var folder: FolderOption
    @Flag(help: "Print the findings as JSON.")
    var json = false

    func run() async throws {
        let workflows = try await WorkflowFolder.load(folder.path(or: path), state: state.folder())
        let root = try folder.path(or: path)
        let findings = try await workflows.cache.findings(for: workflows.sources)
        let program = findings.isEmpty ? try await workflows.program() : nil
        let uncited = UncitedRules.findings(program?.description.rules ?? [], in: root)
        let unlisted = program.map { workflows.sources.unlisted(among: $0.names) } ?? []
        if json {
            try JSONOutput.print(findings + uncited + unlisted.map(\.finding))
        } else if let program {
            Terminal.print(
                "\(Count.text(program.names.count, "workflow")) \(program.names.count == 1 ? "is" : "are") valid: \(program.names.joined(separator: ", "))"
            )
            for line in PlanText.lines(besides: program.description) { Terminal.print(line) }
        } else {
            for finding in findings { Terminal.print("\(finding)") }
        }
        for finding in uncited { Terminal.say("pipectl: \(finding)") }
        for workflow in unlisted { Terminal.say("pipectl: \(workflow.finding)") }
        if !findings.isEmpty {
            throw CommandEnd(
                code: 2,
                message: "\(findings.count) mistake\(findings.count == 1 ? "" : "s"); fix workflows/ and try again")
        }
    }
}

extension DeclaredWorkflow {
    /// A warning, since the listed workflows can be used.
    fileprivate var finding: PlanFinding {
        PlanFinding(
            rule: "unlisted", workflow: TerminalText.name(name),
            message: "\(file):\(line) declares it, but no list names it, so it never runs; "
                + "add it to `static let workflows = […]` of the WorkflowSet")
    }
}
