package import Pipeline
package import Results
package import Sandbox

/// One attempt of a step, as a place is told to run it.
package struct StepAttempt: Sendable {
    package var step: PlannedStep
    package var number: Int
    /// Unique in the run, and fit for the name of a file: `003-1`.
    package var label: String
    /// The variables of the step, without those that name paths of the place.
    package var environment: [String: String]
    package var secrets: [StepSecret] = []
    /// How long the command may take to end after SIGTERM.
    package var grace: Duration

    package init(
        step: PlannedStep, number: Int, label: String, environment: [String: String], secrets: [StepSecret] = [],
        grace: Duration
    ) {
        self.step = step
        self.number = number
        self.label = label
        self.environment = environment
        self.secrets = secrets
        self.grace = grace
    }

    /// The variables of a step, without those that name paths of the place.
    ///
    /// - Parameter common: The variables of every step of the run.
    static func environment(of step: PlannedStep, number: Int, _ common: [String: String]) -> [String: String] {
        var environment = common.merging(step.environment) { _, new in new }
        environment["PIPECTL_STEP"] = step.name
        environment[StepVariable.attempt] = String(number)
        if let shard = step.shard {
            environment[StepVariable.shard] = String(shard.number)
            environment[StepVariable.shards] = String(shard.count)
        }
        // Programs choose colours by the terminal type; `pipectl logs` and the pages understand this one.
        if step.hasTerminal { environment["TERM"] = environment["TERM"] ?? "xterm-256color" }
        return environment
    }

    /// The name of the value that is the file of ``StepVariable/testsFile``; nil: the step has no list of tests.
    package var tests: String?
    /// Whether it has a folder to publish in although the step publishes nothing.
    package var hasFolder = false

    /// Whether the step needs a folder to publish in.
    package var publishes: Bool {
        hasFolder || !step.publishes.isEmpty || step.action == .closure || step.review != nil
    }
}

/// How an attempt ended.
package struct AttemptEnd: Sendable, Equatable {
    package var process: ProcessEnd
    /// A sentence about the limit because of which the command failed; nil if there is none.
    package var limit: String?
    /// A sentence about a limit that ended a process of a step which passed all the same.
    package var survivedLimit: String?
    /// The limits of each single process. If one of them is reached, only the process itself learns of it.
    package var processLimits = ProcessLimits()
    /// Files that the daemon made in the step, in ``RunSetting/artifacts``.
    package var artifacts: [ArtifactRecord] = []

    package init(
        process: ProcessEnd, limit: String? = nil, survivedLimit: String? = nil,
        processLimits: ProcessLimits = ProcessLimits()
    ) {
        self.process = process
        self.limit = limit
        self.survivedLimit = survivedLimit
        self.processLimits = processLimits
    }
}
