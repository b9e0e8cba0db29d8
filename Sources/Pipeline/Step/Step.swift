/// A node of a workflow's graph: a command or a Swift closure.
///
/// Steps start at once unless they need another step. A step that another one needs is part of the workflow, even if
/// the workflow does not list it.
public struct Step: Sendable {
    /// The step as data, without its closure.
    public internal(set) var planned: PlannedStep

    let body: (@Sendable (StepContext) async throws -> Void)?
    /// How its tests are divided among several steps; nil: it is one step.
    var division: Division?
    /// The steps that ``planned`` names in `needs`.
    var needed: NeededSteps

    /// The step's name, unique in its workflow.
    public var name: String { planned.name }

    /// Runs a line with `/bin/sh -e`, which ends at the first command that fails. A line that is only a program and
    /// plain words is started without a shell.
    public init(_ name: String, needs: Step..., run line: String) {
        self.init(name, needs: needs, run: line)
    }

    /// Runs a line with `/bin/sh -e`, which ends at the first command that fails. A line that is only a program and
    /// plain words is started without a shell.
    public init(_ name: String, needs: [Step], run line: String) {
        self.init(name, needs, .shell(line))
    }

    /// Starts a program with arguments, without a shell: nothing in them is expanded or split.
    public init(_ name: String, needs: Step..., command arguments: [String]) {
        self.init(name, needs: needs, command: arguments)
    }

    /// Starts a program with arguments, without a shell: nothing in them is expanded or split.
    public init(_ name: String, needs: [Step], command arguments: [String]) {
        self.init(name, needs, .command(arguments))
    }

    /// Runs a Swift closure in the workspace, in a process of its own. An error that it throws fails the step.
    public init(_ name: String, needs: Step..., body: @escaping @Sendable (StepContext) async throws -> Void) {
        self.init(name, needs: needs, body: body)
    }

    /// Runs a Swift closure in the workspace, in a process of its own. An error that it throws fails the step.
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

    // Unavailable initialisers for likely mistakes: the compiler answers with our sentence.

    /// Unavailable: `needs` takes the step itself, not its name.
    @available(*, unavailable, message: "needs takes steps, not names: let build = Step(…), then needs: build")
    public init(_ name: String, needs: String, run line: String) { self.init(name, run: line) }

    /// Unavailable: `needs` takes the steps themselves, not their names.
    @available(*, unavailable, message: "needs takes steps, not names: let build = Step(…), then needs: [build]")
    public init(_ name: String, needs: [String], run line: String) { self.init(name, run: line) }

    /// Unavailable: an argument vector is `command`.
    @available(*, unavailable, message: "an argument vector is command:, a line for the shell is run:")
    public init(_ name: String, needs: Step..., run arguments: [String]) { self.init(name, command: arguments) }

    /// Unavailable: a line for the shell is `run`.
    @available(*, unavailable, message: "a line for the shell is run:, an argument vector is command: [\"a\", \"b\"]")
    public init(_ name: String, needs: Step..., command line: String) { self.init(name, run: line) }
}
