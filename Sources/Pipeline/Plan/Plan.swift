/// The graph of one workflow for one commit, as data: a workflow program prints it and the engine executes it.
public struct Plan: Sendable, Equatable, Codable {
    /// The version of this type's JSON. A program that writes another version is compiled again.
    public static let formatVersion = 2

    /// The version of the program that made the plan.
    public var formatVersion = Plan.formatVersion
    /// The workflow's name.
    public var workflow: String
    /// Whether the first failed step cancels the steps that are still running.
    public var failFast: Bool
    /// Limits of the whole run.
    public var limits = Limits()
    /// In the order in which the workflow lists its steps.
    public var steps: [PlannedStep]

    /// Makes a plan in the current format.
    public init(workflow: String, failFast: Bool = false, limits: Limits = Limits(), steps: [PlannedStep]) {
        self.workflow = workflow
        self.failFast = failFast
        self.limits = limits
        self.steps = steps
    }
}

/// One step of a ``Plan``.
public struct PlannedStep: Sendable, Equatable, Codable {
    /// What a step does.
    public enum Action: Sendable, Equatable, Codable {
        /// A line for `/bin/sh -e`.
        case shell(String)
        /// A program and its arguments, without a shell.
        case command([String])
        /// A Swift closure of the workflow program.
        case closure
        /// Nothing: the step waits for an approval.
        case approval
        /// The daemon makes a release of artifacts.
        case release(ReleasePlan)
        /// The daemon brings the release that the step needs to a destination.
        case publish(Destination)

        /// Whether it starts a process in the workspace. If not, it takes no slot.
        public var startsProcess: Bool {
            switch self {
            case .shell, .command, .closure: true
            case .approval, .release, .publish: false
            }
        }
    }

    /// When a step may run, depending on how the steps that it needs ended.
    public enum Condition: String, Sendable, Codable {
        /// All of them passed, or failed where failure is allowed.
        case onSuccess
        /// At least one of them failed.
        case onFailure
        /// All of them ended, in whatever way.
        case always
    }

    /// Unique in the plan.
    public var name: String
    /// What it runs.
    public var action: Action
    /// Names of steps of the same plan.
    public var needs: [String]
    /// When it may run.
    public var condition = Condition.onSuccess
    /// Wall-clock seconds for each attempt.
    public var timeout: Double = 3600
    /// How often, and after which failures, it is attempted again.
    public var retry = RetryPolicy()
    /// How failed tests are retried; nil: they are not retried.
    public var testRetry: TestRetry?
    /// How the command is told which tests to run, if the workflow says so. `testRunner` also recognises common
    /// commands.
    public var testFilter: TestRetry.Filter?
    /// Whether the run can pass although this step fails.
    public var allowsFailure = false
    /// Variables in addition to those that every step sees.
    public var environment: [String: String] = [:]
    /// Relative to the workspace; nil: the workspace itself.
    public var workingDirectory: String?
    /// Where its test results are read from; empty: it has none.
    public var testResults: [TestResultSource] = []
    /// Where findings are read from. Nil: only the errors in the output of a failed step are read.
    public var findings: [FindingSource]?
    /// Globs below the workspace.
    /// Globs of the files that are archived with the report.
    public var artifacts: [String] = []
    /// The resources that it holds while it runs.
    public var resources: [ResourceUse] = []
    /// Whether it may use the network.
    public var network = NetworkAccess.denied
    /// What the sandbox permits beyond the usual.
    public var permissions: [SandboxPermission] = []
    /// What it may use.
    public var limits = Limits()
    /// The folders that are kept from run to run.
    public var caches: [CacheUse] = []
    /// Whether the step's input and output are a pseudo-terminal.
    public var hasTerminal = false
    /// The secrets that it gets in runs of merged code.
    public var secrets: [SecretUse] = []
    /// Globs of the repository's files that the step reads; empty: all files.
    public var inputs: [String] = []
    /// Whether only ``inputs`` decide the step's result, whatever the steps that it needs have read: see
    /// `Step.inputs(only:)`.
    public var inputsCoverNeeds = false
    /// Globs of what the step makes for later steps.
    public var outputs: [String] = []
    /// Whether the step declares that it makes nothing for later steps: see `Step.outputs()`.
    public var leavesNothing = false
    /// Whether an earlier result must never be used instead of running the step: see `Step.neverProved()`.
    public var isNeverProved = false
    /// Names of the values that the step publishes.
    public var publishes: [String] = []
    /// Names of the values that the step reads.
    public var reads: [String] = []
    /// Whether running the step twice does no harm: see `Step.idempotent()`.
    public var isIdempotent = false

    /// The settings of a step that reviews the change; nil for other steps.
    public var review: ReviewPlan?
    /// What it needs of a machine, also what the workflow says of all its steps; nil: any machine will do.
    public var machine: MachineNeeds?
    /// Which part of another step's tests it runs; nil: it is a step of its own.
    public var shard: Shard?

    /// Makes a step without modifiers.
    public init(name: String, action: Action, needs: [String] = []) {
        self.name = name
        self.action = action
        self.needs = needs
    }

    /// The command as one would type it in a shell.
    public var commandLine: String {
        if let review { return review.command }
        return switch action {
        case .shell(let line): line
        case .command(let arguments): arguments.map(\.shellQuoted).joined(separator: " ")
        case .closure: "(Swift closure)"
        case .approval: "(waits for pipectl approve)"
        case .release(let plan): "(makes the release, version \(plan.version.inWords))"
        case .publish(let destination): "(publishes the release \(destination.inWords))"
        }
    }
}

/// How often, and after which failures, a step is attempted again.
public struct RetryPolicy: Sendable, Equatable, Codable {
    /// The largest number of further attempts.
    public var count: Int
    /// Which failures allow another attempt.
    public var condition: RetryCondition
    /// The pause before each further attempt.
    public var backoff: Backoff

    /// A policy of `count` further attempts. With 0, the default, the first failure is final.
    public init(count: Int = 0, condition: RetryCondition = .anyFailure, backoff: Backoff = .constant(.zero)) {
        self.count = count
        self.condition = condition
        self.backoff = backoff
    }
}

/// Which failures of a step allow another attempt.
public enum RetryCondition: Sendable, Equatable, Codable {
    /// Any failure, also a time-out.
    case anyFailure
    /// The command ended with one of these exit codes.
    case exitCodes([Int32])
    /// The step could not be started, or the build box failed while it ran.
    case infrastructure

    /// Allows another attempt when the command ends with one of these exit codes.
    public static func exitCodes(_ codes: Int32...) -> RetryCondition { .exitCodes(codes) }
}

/// The pause before a further attempt.
public struct Backoff: Sendable, Equatable, Codable {
    /// Seconds before the second attempt.
    public var first: Double
    /// What the pause is multiplied by with each further attempt.
    public var factor: Double
    /// The longest pause, in seconds.
    public var limit: Double

    /// The same pause before each attempt.
    public static func constant(_ pause: Duration) -> Backoff {
        Backoff(first: pause.inSeconds, factor: 1, limit: pause.inSeconds)
    }

    /// A pause that doubles with each attempt, up to `limit`.
    public static func exponential(from first: Duration, upTo limit: Duration = .minutes(5)) -> Backoff {
        Backoff(first: first.inSeconds, factor: 2, limit: limit.inSeconds)
    }

    /// The seconds to wait before attempt `number`. The first retry is attempt 2.
    public func pause(beforeAttempt number: Int) -> Double {
        var pause = first
        for _ in 2..<max(number, 2) where pause < limit { pause *= factor }
        return min(pause, limit)
    }
}

/// Whether a step may use the network.
public enum NetworkAccess: String, Sendable, Codable {
    /// The step has the network of the machine.
    case allowed
    /// The step has no network, not even other processes' loopback.
    case denied
}

/// How many units of a resource a step holds while it runs.
public struct ResourceUse: Sendable, Equatable, Codable {
    /// The resource, with its capacity.
    public var resource: Resource
    /// At least 1, and at most the capacity.
    public var units: Int

    /// A use of `units` of the resource, from 1 to its capacity. A plan with another number is refused.
    public init(resource: Resource, units: Int) {
        self.resource = resource
        self.units = units
    }
}

/// Where a step's test results are read from.
public enum TestResultSource: Sendable, Equatable, Codable {
    /// JUnit XML files, as a glob below the workspace.
    case junit(String)
    /// Swift Testing's event stream (`swift test --event-stream-output-path`), as a glob below the workspace.
    case swiftTestingEvents(String)
    /// Files in any format that pipectl reads, as a glob below the workspace. The content decides which format it is.
    case file(String)
    /// The output of `swift test`. It is less exact than a result file, but the command needs no option for it.
    case swiftPMConsole
}

extension String {
    /// The text quoted as one word for a POSIX shell.
    package var shellQuoted: String {
        let plain =
            !isEmpty
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                    UInt8(ascii: "/"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: ","), UInt8(ascii: "+"),
                    UInt8(ascii: "@"), UInt8(ascii: "%"):
                    true
                default: false
                }
            }
        if plain { return self }
        return "'"
            + unicodeScalars.split(separator: "'", omittingEmptySubsequences: false).map(String.init).joined(
                separator: "'\\''") + "'"
    }
}
