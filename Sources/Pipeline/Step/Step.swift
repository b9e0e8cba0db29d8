/// A node of a workflow's graph: a command or a Swift closure.
///
/// Everything listed in a workflow starts at once unless it `needs` something.
public struct Step: Sendable {
    /// The step as pipectl runs it, without its closure.
    public internal(set) var planned: PlannedStep

    let body: (@Sendable (StepContext) async throws -> Void)?

    /// The step's name, unique in its workflow.
    public var name: String { planned.name }

    /// A line for `/bin/sh -e`, which ends with the first command of it that fails.
    public init(_ name: String, needs: Step..., run line: String) {
        self.init(name, needs: needs, run: line)
    }

    /// A line for `/bin/sh -e`, which ends with the first command of it that fails.
    public init(_ name: String, needs: [Step], run line: String) {
        planned = PlannedStep(name: name, action: .shell(line), needs: needs.map(\.name))
        body = nil
    }

    /// A program and its arguments, started without a shell: nothing in them is ever expanded or split.
    public init(_ name: String, needs: Step..., command arguments: [String]) {
        self.init(name, needs: needs, command: arguments)
    }

    /// A program and its arguments, started without a shell: nothing in them is ever expanded or split.
    public init(_ name: String, needs: [Step], command arguments: [String]) {
        planned = PlannedStep(name: name, action: .command(arguments), needs: needs.map(\.name))
        body = nil
    }

    /// A Swift closure, run in a process of its own in the workspace. Throwing fails the step.
    public init(_ name: String, needs: Step..., body: @escaping @Sendable (StepContext) async throws -> Void) {
        self.init(name, needs: needs, body: body)
    }

    /// A Swift closure, run in a process of its own in the workspace. Throwing fails the step.
    public init(_ name: String, needs: [Step], body: @escaping @Sendable (StepContext) async throws -> Void) {
        planned = PlannedStep(name: name, action: .closure, needs: needs.map(\.name))
        self.body = body
    }
}
