/// The graph of one workflow for one commit, as data: what a workflow program prints and the engine runs.
public struct Plan: Sendable, Equatable, Codable {
    /// The format of this value as JSON; a program that writes another one is compiled again.
    public static let formatVersion = 2

    public var formatVersion = Plan.formatVersion
    public var workflow: String
    /// Whether the first failure cancels what still runs.
    public var failFast: Bool
    /// Of the whole run.
    public var limits = Limits()
    /// In the order in which the workflow lists them.
    public var steps: [PlannedStep]

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
        /// Nothing: it waits for a person.
        case approval
    }

    /// When a step may run, seen from what it needs.
    public enum Condition: String, Sendable, Codable {
        /// Everything it needs has passed (or failed where that is allowed).
        case onSuccess
        /// Something it needs has failed.
        case onFailure
        /// Everything it needs has ended.
        case always
    }

    public var name: String
    public var action: Action
    public var needs: [String]
    public var condition = Condition.onSuccess
    /// Seconds, wall clock, per attempt.
    public var timeout: Double = 3600
    public var retry = RetryPolicy()
    /// Nil where failed tests are not tried again by themselves.
    public var testRetry: TestRetry?
    /// How it is told which tests to run, where it says so: see ``testRunner`` for what is known besides.
    public var testFilter: TestRetry.Filter?
    public var allowsFailure = false
    public var environment: [String: String] = [:]
    /// Relative to the workspace.
    public var workingDirectory: String?
    public var testResults: [TestResultSource] = []
    /// Nil: of a step that fails, the errors that it printed.
    public var findings: [FindingSource]?
    public var artifacts: [String] = []
    public var resources: [ResourceUse] = []
    public var network = NetworkAccess.denied
    public var permissions: [SandboxPermission] = []
    public var limits = Limits()
    public var caches: [CacheUse] = []
    /// Whether its input and output are a pseudo-terminal.
    public var hasTerminal = false
    public var secrets: [SecretUse] = []
    public var inputs: [String] = []
    /// Whether no other file decides its result, also of those that the steps it needs have read: see
    /// `Step.inputs(only:)`.
    public var inputsCoverNeeds = false
    public var outputs: [String] = []
    /// Whether it says that it leaves nothing for later steps: see `Step.outputs()`.
    public var leavesNothing = false
    /// Whether no earlier result may stand for it: see `Step.neverProved()`.
    public var isNeverProved = false
    public var publishes: [String] = []
    public var reads: [String] = []
    /// Whether doing it twice is as good as doing it once: see `Step.idempotent()`.
    public var isIdempotent = false

    /// What it reviews by, for a step that does.
    public var review: ReviewPlan?

    public init(name: String, action: Action, needs: [String] = []) {
        self.name = name
        self.action = action
        self.needs = needs
    }

    /// The command as a person would type it.
    public var commandLine: String {
        if let review { return review.command }
        return switch action {
        case .shell(let line): line
        case .command(let arguments): arguments.map(\.shellQuoted).joined(separator: " ")
        case .closure: "(Swift closure)"
        case .approval: "(waits for pipectl approve)"
        }
    }
}

/// How often and after which failures a step is tried again.
public struct RetryPolicy: Sendable, Equatable, Codable {
    /// Further attempts after the first.
    public var count: Int
    public var condition: RetryCondition
    public var backoff: Backoff

    public init(count: Int = 0, condition: RetryCondition = .anyFailure, backoff: Backoff = .constant(.zero)) {
        self.count = count
        self.condition = condition
        self.backoff = backoff
    }
}

/// Which failures of a step are worth another attempt.
public enum RetryCondition: Sendable, Equatable, Codable {
    case anyFailure
    case exitCodes([Int32])
    /// The step could not be started, or the box failed under it.
    case infrastructure

    /// Another attempt when the command ends with one of these exit codes.
    public static func exitCodes(_ codes: Int32...) -> RetryCondition { .exitCodes(codes) }
}

/// The pause before a further attempt, in seconds.
public struct Backoff: Sendable, Equatable, Codable {
    public var first: Double
    public var factor: Double
    public var limit: Double

    /// The same pause before each attempt.
    public static func constant(_ pause: Duration) -> Backoff {
        Backoff(first: pause.inSeconds, factor: 1, limit: pause.inSeconds)
    }

    /// A pause that doubles with each attempt, up to `limit`.
    public static func exponential(from first: Duration, upTo limit: Duration = .minutes(5)) -> Backoff {
        Backoff(first: first.inSeconds, factor: 2, limit: limit.inSeconds)
    }

    /// Seconds to wait before attempt `number`; the first retry is attempt 2.
    public func pause(beforeAttempt number: Int) -> Double {
        var pause = first
        for _ in 2..<max(number, 2) where pause < limit { pause *= factor }
        return min(pause, limit)
    }
}

/// Whether a step may use the network.
public enum NetworkAccess: String, Sendable, Codable { case allowed, denied }

/// How many units of a resource a step holds while it runs.
public struct ResourceUse: Sendable, Equatable, Codable {
    public var resource: Resource
    public var units: Int

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
    /// Test result files in any format that is read, as a glob below the workspace; the content tells which one it is.
    case file(String)
    /// What `swift test` prints: less exact, needs no option of the command.
    case swiftPMConsole
}

extension String {
    /// The text as one word of a POSIX shell.
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
