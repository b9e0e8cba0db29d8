/// A node of a workflow's graph: a command or a Swift closure.
///
/// Everything in a workflow starts at once unless it `needs` something. A step that another one needs is part of the
/// workflow, whether it is listed or not.
public struct Step: Sendable {
    /// The step as pipectl runs it, without its closure.
    public internal(set) var planned: PlannedStep

    let body: (@Sendable (StepContext) async throws -> Void)?
    /// The steps that ``planned`` names in `needs`.
    var needed: NeededSteps

    /// The step's name, unique in its workflow.
    public var name: String { planned.name }

    /// A line for `/bin/sh -e`, which ends with the first command of it that fails. A program and plain words are started
    /// without the shell in between.
    public init(_ name: String, needs: Step..., run line: String) {
        self.init(name, needs: needs, run: line)
    }

    /// A line for `/bin/sh -e`, which ends with the first command of it that fails. A program and plain words are started
    /// without the shell in between.
    public init(_ name: String, needs: [Step], run line: String) {
        self.init(name, needs, .shell(line))
    }

    /// A program and its arguments, started without a shell: nothing in them is ever expanded or split.
    public init(_ name: String, needs: Step..., command arguments: [String]) {
        self.init(name, needs: needs, command: arguments)
    }

    /// A program and its arguments, started without a shell: nothing in them is ever expanded or split.
    public init(_ name: String, needs: [Step], command arguments: [String]) {
        self.init(name, needs, .command(arguments))
    }

    /// A Swift closure, run in a process of its own in the workspace. Throwing fails the step.
    public init(_ name: String, needs: Step..., body: @escaping @Sendable (StepContext) async throws -> Void) {
        self.init(name, needs: needs, body: body)
    }

    /// A Swift closure, run in a process of its own in the workspace. Throwing fails the step.
    public init(_ name: String, needs: [Step], body: @escaping @Sendable (StepContext) async throws -> Void) {
        self.init(name, needs, .closure, body: body)
    }

    init(
        _ name: String, _ needs: [Step], _ action: PlannedStep.Action,
        body: (@Sendable (StepContext) async throws -> Void)? = nil
    ) {
        // A step that is named twice is needed once.
        var names: [String] = []
        var seen: Set<String> = []
        for need in needs where seen.insert(need.name).inserted { names.append(need.name) }
        planned = PlannedStep(name: name, action: action, needs: names)
        needed = NeededSteps(needs)
        self.body = body
    }

    // The likely slips, answered with our sentence.

    @available(*, unavailable, message: "needs takes steps, not names: let build = Step(…), then needs: build")
    public init(_ name: String, needs: String, run line: String) { self.init(name, run: line) }

    @available(*, unavailable, message: "needs takes steps, not names: let build = Step(…), then needs: [build]")
    public init(_ name: String, needs: [String], run line: String) { self.init(name, run: line) }

    @available(*, unavailable, message: "an argument vector is command:, a line for the shell is run:")
    public init(_ name: String, needs: Step..., run arguments: [String]) { self.init(name, command: arguments) }

    @available(*, unavailable, message: "a line for the shell is run:, an argument vector is command: [\"a\", \"b\"]")
    public init(_ name: String, needs: Step..., command line: String) { self.init(name, run: line) }
}
