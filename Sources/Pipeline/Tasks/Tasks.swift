/// What agents are given to do in this repository, and what must be true before a person is asked to land it.
///
/// ```swift
/// @main struct Workflows: WorkflowSet {
///     static let workflows = [test, release]
///     static let tasks = Tasks(into: "main", by: .claude, mustPass: [test]).reviewed(by: .codex)
/// }
/// ```
///
/// `pipectl task add "…"` makes a task. The declaration is read from the target branch, so no change of an agent can
/// weaken it.
public struct Tasks: Sendable {
    /// The rules as the daemon reads them.
    public internal(set) var declaration: TasksDeclaration

    /// - Parameters:
    ///   - branch: The branch that the changes of tasks are for.
    ///   - agents: The agents that work on a task. Several try it side by side, and the best result is offered.
    ///   - workflows: The workflows that must pass, from the list of the ``WorkflowSet``.
    public init(into branch: String = "main", by agents: AgentCommand..., mustPass workflows: [Workflow]) {
        declaration = TasksDeclaration(
            branch: branch, agents: agents, workflows: workflows.map(\.declaration.name))
    }

    /// Lets another agent review each change before a person sees it.
    public func reviewed(by agent: AgentCommand) -> Tasks { with { $0.reviewer = agent } }

    /// Sets which tasks begin with a plan that a person approves. Default: ``TaskPlanning/approved``.
    public func plans(_ planning: TaskPlanning) -> Tasks { with { $0.planning = planning } }

    /// Lets a task skip the approval of its plan if the plan names at most so many files, all of which match a glob.
    public func skipsApproval(upTo files: Int, in globs: String...) -> Tasks {
        with { $0.small = SmallTask(files: files, globs: globs) }
    }

    /// Sets for which tasks a test is demanded that fails on the target and passes with the change. Default:
    /// ``TaskReproduction/crashes``.
    public func reproduces(_ reproduction: TaskReproduction) -> Tasks { with { $0.reproduction = reproduction } }

    /// Limits the work on one task: the tries of each agent, the wall-clock time of one try, what a try may use, and the
    /// cost of all tries together, where the agent tells it.
    ///
    /// - Parameters:
    ///   - attempts: The tries of one agent, from 1 to 10. Default: 4.
    ///   - limit: The longest wall-clock time of one try. Default: 30 minutes.
    ///   - cost: The highest cost of a task in US dollars; nil: no limit.
    ///   - tokens: The most tokens of a task, of input and output together; nil: no limit.
    ///   - limits: What one try may use, within the limits of the build box.
    public func budget(
        attempts: Int = 4, within limit: Duration = .minutes(30), cost: Double? = nil, tokens: Int? = nil,
        _ limits: Limit...
    ) -> Tasks {
        with {
            ($0.attempts, $0.timeout, $0.cost, $0.tokens) = (attempts, limit.inSeconds, cost, tokens)
            $0.limits = Limits(limits).or($0.limits)
        }
    }

    /// Allows the agents these hosts of the network, by HTTPS, and no other: `"api.example.com"`. Default: none.
    public func reaches(_ hosts: String...) -> Tasks { with { $0.hosts += hosts } }

    /// Gives the agents secrets as environment variables, such as the key of a model. Agents work on what people of the
    /// repository asked for, but crash reports and issues that they read come from strangers.
    public func secrets(_ names: String...) -> Tasks { with { $0.secrets += names } }

    /// Makes tasks of what happens, besides those that people ask for. Default: none.
    public func begins(on sources: TaskSourceRule...) -> Tasks { with { $0.sources += sources } }

    /// Runs a line for `/bin/sh -e` on the build box whenever the reporter of a task is to be told something; the news
    /// are JSON on standard input.
    public func tells(by line: String) -> Tasks { with { $0.tell = line } }

    private func with(_ change: (inout TasksDeclaration) -> Void) -> Tasks {
        var copy = self
        change(&copy.declaration)
        return copy
    }
}

/// Which tasks begin with a plan.
public enum TaskPlanning: String, Sendable, Codable, CaseIterable {
    /// Each; a person approves the plan before the work.
    case approved
    /// Each; the work begins with it at once.
    case shown
    /// None.
    case none
}

/// For which tasks a reproduction is demanded: a test that fails on the target and passes with the change.
public enum TaskReproduction: String, Sendable, Codable, CaseIterable {
    /// Every task.
    case always
    /// Tasks that begin with a crash report or a failed test.
    case crashes
    /// No task.
    case never
}

/// A rule by which tasks are small enough for work without an approved plan.
public struct SmallTask: Sendable, Equatable, Codable {
    /// The most files that the plan may name.
    public var files: Int
    /// Globs; every file of the plan must match one.
    public var globs: [String]

    /// A rule for plans of at most `files` files, all of which match one of `globs`.
    public init(files: Int, globs: [String]) {
        self.files = files
        self.globs = globs
    }
}

/// An event that makes a task.
public enum TaskSourceRule: Sendable, Equatable, Codable {
    /// An issue at the forge gets this label.
    case issueLabel(String)
    /// A tester sends a crash or feedback from TestFlight. The app and the API key are those of the destination that its
    /// builds are published to.
    case testFlight(TestFlight)
    /// A service sends a crash to pipectl's endpoint, with the token that is the secret `CRASH_TOKEN`.
    case crashEndpoint
    /// A scheduled run of this workflow fails.
    case scheduledRun(String)
    /// A test fails on the target that passed there before.
    case redTarget
}

/// ``Tasks`` as the daemon reads it.
public struct TasksDeclaration: Sendable, Equatable, Codable {
    /// The most attempts that an agent may be given.
    public static let mostAttempts = 10

    /// The branch that changes of tasks are for.
    public var branch: String
    /// The agents that work.
    public var agents: [AgentCommand]
    /// The names of the workflows that must pass.
    public var workflows: [String]
    /// The agent that reviews; nil: none does.
    public var reviewer: AgentCommand?
    /// Which tasks begin with a plan.
    public var planning = TaskPlanning.approved
    /// Which plans need no approval; nil: all need it.
    public var small: SmallTask?
    /// For which tasks a reproduction is demanded.
    public var reproduction = TaskReproduction.crashes
    /// Tries of each agent.
    public var attempts = 4
    /// The longest wall-clock time of one try, in seconds.
    public var timeout: Double = 1_800
    /// US dollars; nil: no limit.
    public var cost: Double?
    /// Tokens of input and output together; nil: no limit.
    public var tokens: Int?
    /// What one try may use.
    public var limits = Limits([.output(.mebibytes(256)), .workspace(.gibibytes(20))])
    /// The hosts that agents may reach.
    public var hosts: [String] = []
    /// The names of the secrets that agents get.
    public var secrets: [String] = []
    /// What makes tasks by itself.
    public var sources: [TaskSourceRule] = []
    /// The line that tells reporters; nil: none.
    public var tell: String?

    /// A declaration in which everything else is as it is without a modifier.
    public init(branch: String, agents: [AgentCommand], workflows: [String]) {
        self.branch = branch
        self.agents = agents
        self.workflows = workflows
    }

    /// Everything that is wrong with the declaration.
    package var problems: [String] {
        var problems: [String] = []
        if branch.isEmpty { problems.append("tasks have an empty branch; write Tasks(into: \"main\", …)") }
        if agents.isEmpty { problems.append("tasks have no agent; write Tasks(by: .claude, …)") }
        let names = agents.map(\.name)
        for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
            problems.append("two agents of the tasks are named \"\(name)\"; give one another name")
        }
        for agent in agents where agent.plan.allSatisfy(\.isWhitespace) || agent.work.allSatisfy(\.isWhitespace) {
            problems.append("agent \"\(agent.name)\" has an empty command line; write what starts it")
        }
        if let reviewer, reviewer.review == nil {
            problems.append("agent \"\(reviewer.name)\" reviews tasks but has no line for that; write review: \"…\"")
        }
        if workflows.isEmpty { problems.append("tasks name no workflow that must pass; write mustPass: [test]") }
        if !(1...Self.mostAttempts).contains(attempts) {
            problems.append("tasks have \(attempts) attempts; allowed: 1 to \(Self.mostAttempts)")
        }
        if !(timeout > 0) { problems.append("an attempt of a task may take \(timeout) s; use a time above 0") }
        for host in hosts {
            do throws(AllowedHostProblem) { _ = try AllowedHost(host) } catch {
                problems.append("tasks reach a host that can't be one: \(error)")
            }
        }
        problems += secrets.compactMap(SecretUse.problem(with:)).map { "the secrets of tasks: \($0)" }
        return problems
    }
}

/// What ``WorkflowSet/tasks`` may be: ``Tasks``, or nothing.
public protocol TasksDeclaring: Sendable {
    /// The rules as the daemon reads them; nil: agents are given no tasks.
    var tasksDeclaration: TasksDeclaration? { get }
}

extension Tasks: TasksDeclaring {
    /// These rules.
    public var tasksDeclaration: TasksDeclaration? { declaration }
}

/// No tasks: what a ``WorkflowSet`` has without a declaration.
public struct NoTasks: TasksDeclaring {
    /// Nil.
    public var tasksDeclaration: TasksDeclaration? { nil }

    /// No tasks.
    public init() {}
}
