public import Foundation
public import Pipeline
import PlanRules
import Results

/// The compiled workflows of one commit: lists them, plans them, and runs their closure steps.
public struct WorkflowProgram: Sendable {
    /// The digest of the program's inputs; equal keys mean equal programs.
    public let key: String
    /// The absolute path of the program.
    public let executable: String
    /// The list of workflows with their triggers.
    public let description: ProgramDescription

    /// The absolute path of the cache entry.
    let directory: String
    /// Folders that a sandbox must show in addition to the entry: the library.
    let reads: [String]
    let programSandbox: ProgramSandbox
    let environment: [String: String]
    let limits: ProgramLimits

    package init(
        key: String, executable: String, description: ProgramDescription, directory: String, reads: [String],
        programSandbox: ProgramSandbox, environment: [String: String], limits: ProgramLimits
    ) {
        self.key = key
        self.executable = executable
        self.description = description
        self.directory = directory
        self.reads = reads
        self.programSandbox = programSandbox
        self.environment = environment
        self.limits = limits
    }

    /// The folders that the program reads while it runs; the sandbox of a closure step shows them.
    public var folders: [String] { [directory] + reads }

    /// The names of all workflows, as listed.
    public var names: [String] { description.workflows.map(\.name) }

    /// The workflow of this name.
    ///
    /// - Throws: ``DefinitionError`` with ``DefinitionError/Code/unknownWorkflow``, the nearest name and all names.
    public func declaration(of workflow: String) throws(DefinitionError) -> WorkflowDeclaration {
        if let found = description.workflows.first(where: { $0.name == workflow }) { return found }
        throw DefinitionError(.unknownWorkflow, NameSuggestion.sentence(for: workflow, among: names))
    }

    /// The validated plan of a workflow for one run.
    ///
    /// A workflow that does not read the context is planned once; later calls read a file.
    /// - Throws: ``DefinitionError``.
    public func plan(workflow: String, context: PlanContext) async throws -> Plan {
        let declaration = try declaration(of: workflow)
        let kept = PlanFile(directory: directory, workflow: workflow)
        if !declaration.readsContext, let plan = kept.read() { return try checked(plan, declaration) }
        let plan = try checked(try await ask(workflow, context), declaration)
        if !declaration.readsContext { kept.write(plan) }
        return plan
    }

    /// The command of a closure step; it runs in the workspace, with the variables of ``StepVariable``.
    ///
    /// - Parameter contextFile: The file with the output of ``contextData(_:)`` for the run.
    public func closureCommand(workflow: String, step: String, contextFile: String) -> [String] {
        [
            executable, ProgramRequest.step.rawValue, "--workflow", workflow, "--step", step, "--context", contextFile,
        ]
    }

    /// The context in the format that the program reads.
    public static func contextData(_ context: PlanContext) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return try encoder.encode(context)
    }

    private func ask(_ workflow: String, _ context: PlanContext) async throws -> Plan {
        try await ProgramAnswer(
            executable: executable, reads: folders, programSandbox: programSandbox, environment: environment,
            limits: limits
        ).ask(.plan, ["--workflow", workflow], context: context)
    }

    private func checked(_ plan: Plan, _ declaration: WorkflowDeclaration) throws(DefinitionError) -> Plan {
        guard plan.formatVersion == Plan.formatVersion, plan.workflow == declaration.name else {
            throw DefinitionError(
                .badAnswer,
                "the workflow program answered with the plan of \"\(plan.workflow)\" in format \(plan.formatVersion); "
                    + "this pipectl asked for \"\(declaration.name)\" in format \(Plan.formatVersion). "
                    + "Does workflows/ have its own Pipeline library? Use pipectl's.")
        }
        let findings = plan.validate()
        guard findings.isEmpty else { throw DefinitionError(findings: findings) }
        return plan
    }
}

/// Limits of the time and the output of a workflow program.
public struct ProgramLimits: Sendable, Equatable {
    /// Wall-clock time for `swiftc`.
    public var compile: Duration
    /// Wall-clock time for `swift build` of a `workflows/Package.swift`, which may fetch and build dependencies.
    public var package: Duration
    /// Wall-clock time for one answer of the program.
    public var plan: Duration
    /// Maximum size of one answer in bytes.
    public var answer: Int

    public init(
        compile: Duration = .seconds(120), package: Duration = .seconds(900), plan: Duration = .seconds(30),
        answer: Int = 16 << 20
    ) {
        self.compile = compile
        self.package = package
        self.plan = plan
        self.answer = answer
    }
}

extension DefinitionError {
    /// All findings as one error.
    init(findings: [PlanFinding]) {
        let count = findings.count == 1 ? "1 mistake" : "\(findings.count) mistakes"
        self.init(.invalid, "the workflows have \(count) that the compiler can't see:", findings: findings)
    }
}
