import StateFiles
import ArgumentParser
import BuildBox
import Foundation
import Pipeline
import WorkflowPrograms

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
        let findings = try await workflows.cache.findings(for: workflows.sources)
        if json {
            try JSONOutput.print(findings)
        } else if findings.isEmpty {
            let program = try await workflows.program()
            Terminal.print(
                "\(Count.text(program.names.count, "workflow")) \(program.names.count == 1 ? "is" : "are") valid: \(program.names.joined(separator: ", "))"
            )
        } else {
            for finding in findings { Terminal.print("\(finding)") }
        }
        if !findings.isEmpty {
            throw CommandEnd(
                code: 2,
                message: "\(findings.count) mistake\(findings.count == 1 ? "" : "s"); fix workflows/ and try again")
        }
    }
}
