#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif
#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The main function of every workflow program.
struct Program: Sendable {
    let workflows: [Workflow]
    var landings: [LandingDeclaration] = []
    var tasks: TasksDeclaration?
    var rules: [Rule] = []

    func run(_ arguments: [String]) async {
        do {
            try await answer(arguments)
        } catch let failure as StepFailure {
            stop("\(failure.file):\(failure.line): error: \(failure.description)")
        } catch {
            stop("error: \(error)")
        }
    }

    private func answer(_ arguments: [String]) async throws {
        guard let request = arguments.dropFirst().first.flatMap(ProgramRequest.init(rawValue:)) else {
            throw StepFailure(
                "this is a compiled workflow program; pipectl runs it. Try `pipectl validate` or `pipectl plan`.")
        }
        var options: [String: String] = [:]
        var rest = arguments.dropFirst(2)
        while let name = rest.popFirst(), let value = rest.popFirst() { options[name] = value }
        func option(_ name: String) throws -> String {
            guard let value = options[name] else { throw StepFailure("\(request.rawValue) needs \(name)") }
            return value
        }

        switch request {
        case .describe:
            let landings = landings.isEmpty ? nil : landings
            try save(
                ProgramDescription(
                    workflows: workflows.map(\.declaration), landings: landings, tasks: tasks,
                    rules: rules.isEmpty ? nil : rules),
                to: option("--output"))
        case .plan:
            let plan = try workflow(named: option("--workflow")).plan(for: context(at: option("--context")))
            try save(plan, to: option("--output"))
        case .step:
            let context = try context(at: option("--context"))
            let name = try option("--step")
            let steps = try workflow(named: option("--workflow")).steps(context)
            guard let step = steps.first(where: { $0.name == name }), let body = step.body else {
                throw StepFailure("step \"\(name)\" is not a closure of this workflow when planned for this run")
            }
            let environment = ProcessInfo.processInfo.environment
            try await body(
                StepContext(
                    context: context,
                    workspace: environment[StepVariable.workspace] ?? ".",
                    attempt: environment[StepVariable.attempt].flatMap(Int.init) ?? 1, step: step.planned,
                    valuesIn: environment[StepVariable.valuesIn] ?? ".",
                    valuesOut: environment[StepVariable.valuesOut] ?? "."))
        }
    }

    private func workflow(named name: String) throws -> Workflow {
        guard let workflow = workflows.first(where: { $0.declaration.name == name }) else {
            throw StepFailure("no workflow is named \"\(name)\"")
        }
        return workflow
    }

    private func context(at path: String) throws -> PlanContext {
        try JSONDecoder().decode(PlanContext.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
    }

    private func save(_ answer: some Encodable, to path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(answer).write(to: URL(fileURLWithPath: path), options: .atomic)
    }

    private func stop(_ message: String) -> Never {
        fflush(nil)
        _ = Array((message + "\n").utf8).withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
        exit(1)
    }
}
