import ArgumentParser
import Client
import Control
import Engine
import Foundation
import Pipeline
import WorkflowPrograms
import StateFiles
import Watching

struct PlanCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan", abstract: "Shows the steps of a workflow of the working tree, without running it.")

    enum Format: String, ExpressibleByArgument, CaseIterable { case text, dot }

    @OptionGroup var state: StateOptions
    @Argument(help: "The workflow's name. Default: list all workflows.")
    var workflow: String?
    @Option(help: "The top folder of the repository.")
    var folder = "."
    @Option(help: "The format: text, or dot for Graphviz.")
    var format = Format.text
    @Flag(help: "Print the plan as JSON.")
    var json = false
    @Option(name: .customLong("param"), help: ArgumentHelp("A parameter's value.", valueName: "name=value"))
    var parameters: [String] = []
    @Flag(help: "Show for each step whether it may run on another machine than the others, or why not.")
    var machines = false
    @Flag(help: "Show for each step which run proves it, or what changed since the last proof.")
    var why = false
    @Option(help: "With --why: use this branch, tag or commit instead of the working tree.")
    var ref: String?
    @Option(help: "With --why: use this change, merged with its target.")
    var change: String?

    func validate() throws {
        if ref != nil && change != nil { throw ValidationError("--ref and --change exclude each other") }
        if !why && (ref != nil || change != nil) { throw ValidationError("--ref and --change go with --why") }
        if why && workflow == nil { throw ValidationError("--why needs the name of a workflow") }
        if machines && workflow == nil { throw ValidationError("--machines needs the name of a workflow") }
        if machines && (why || json || format == .dot) {
            throw ValidationError("--machines is for text, without --why")
        }
    }

    func run() async throws {
        if why, let workflow { return try await explain(workflow) }
        let program = try await WorkflowFolder.load(folder, state: state.folder()).program()
        guard let workflow else {
            if json { return try JSONOutput.print(program.description.workflows) }
            for declaration in program.description.workflows { Terminal.print(PlanText.line(for: declaration)) }
            for line in PlanText.lines(besides: program.description) { Terminal.print(line) }
            return
        }
        let declaration = try program.declaration(of: workflow)
        let given = try ParameterOptions.values(parameters)
        var values: [String: String] = [:]
        for parameter in declaration.parameters {
            switch parameter.value(given: given[parameter.name]) {
            case .success(let value): values[parameter.name] = value
            case .failure(let problem): throw CommandEnd(code: 2, message: problem.description)
            }
        }
        let context = PlanContext(
            repository: URL(fileURLWithPath: folder).standardizedFileURL.lastPathComponent, event: .manual,
            commit: String(repeating: "0", count: 40), ref: "", parameters: values)
        let plan = try await program.plan(workflow: workflow, context: context)
        if json { return try JSONOutput.print(plan) }
        if format == .dot { return Terminal.put(PlanText.dot(plan)) }
        Terminal.print(PlanText.line(for: declaration))
        for line in DeclarationText.lines(declaration) { Terminal.print("  \(line)") }
        Terminal.put(PlanText.text(plan, namesMoves: machines))
    }

    private func explain(_ workflow: String) async throws {
        let location = WatchedRepository.isRemote(folder) ? folder : try RunSubject.top(of: folder)
        let subject = try await RunSubject(ref: ref, change: change).resolved(in: location)
        let request = StartRequest(
            location: location, workflow: workflow, subject: subject,
            parameters: try ParameterOptions.values(parameters))
        let reasons = try await state.ask(.why(request), "plan --why") {
            if case .reasons(let reasons) = $0 { reasons } else { nil }
        }
        if json { return try JSONOutput.print(reasons) }
        Terminal.put(WhyText.text(reasons))
    }
}
