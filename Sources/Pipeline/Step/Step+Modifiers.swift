extension Step {
    /// Sets the longest wall-clock time of one attempt. Then the step is ended with all processes that it started.
    /// Default: 1 hour.
    public func timeout(_ limit: Duration) -> Step { with { $0.timeout = limit.inSeconds } }

    /// Attempts the step again after a failure.
    ///
    /// - Parameters:
    ///   - count: The largest number of further attempts.
    ///   - condition: Which failures allow another attempt.
    ///   - backoff: The pause before each further attempt.
    public func retries(
        _ count: Int, on condition: RetryCondition = .anyFailure, backoff: Backoff = .constant(.zero)
    ) -> Step {
        with { $0.retry = RetryPolicy(count: count, condition: condition, backoff: backoff) }
    }

    /// Declares that running the step twice does no harm, so that the daemon may repeat it after it was interrupted.
    ///
    /// This matters only in workflows for releases (a merge or a tag starts them, and no change does): there, the
    /// daemon never repeats a step when it doesn't know how the step ended. Use it for steps that only make files in
    /// the workspace, and for steps that check first whether their work is done.
    public func idempotent(_ on: Bool = true) -> Step { with { $0.isIdempotent = on } }

    /// Lets the run pass although this step fails. The report still shows the failure, and steps that need this one
    /// start.
    public func allowFailure(_ allowed: Bool = true) -> Step { with { $0.allowsFailure = allowed } }

    /// Runs the step when all steps that it needs have ended, in whatever way: for clean-up. A step that needs nothing
    /// runs last.
    public func always() -> Step { with { $0.condition = .always } }

    /// Runs the step when a step that it needs has failed: for notifications. If it needs nothing, any failed step of
    /// the run counts.
    public func onFailure() -> Step { with { $0.condition = .onFailure } }

    /// Adds environment variables to those that every step sees.
    public func environment(_ variables: [String: String]) -> Step {
        with { $0.environment.merge(variables) { _, new in new } }
    }

    /// Sets the folder to run in, relative to the workspace.
    public func workingDirectory(_ path: String) -> Step { with { $0.workingDirectory = path } }

    /// Reads test results from these sources when the step ends, whether it passed or not.
    public func testResults(_ sources: TestResultSource...) -> Step { with { $0.testResults += sources } }

    /// Reads what compilers, linters and checkers say about files when the step ends, whether it passed or not:
    /// `.findings(.sarif("build/*.sarif"))`, `.findings(.output)`.
    ///
    /// The report shows the findings beside the tests and compares them with the target's. They do not change whether
    /// the step passes; its exit code decides.
    public func findings(_ sources: FindingSource...) -> Step { with { $0.findings = ($0.findings ?? []) + sources } }

    /// Archives files with the report. They are globs below the workspace: `"dist/*.tar.gz"`.
    public func artifacts(_ globs: String...) -> Step { with { $0.artifacts += globs } }

    /// Holds `units` of a resource while the step runs. The step waits until they are free.
    public func uses(_ resource: Resource, _ units: Int = 1) -> Step {
        with { $0.resources.append(ResourceUse(resource: resource, units: units)) }
    }

    /// Allows or denies the step the network. Default: denied.
    public func network(_ access: NetworkAccess) -> Step { with { $0.network = access } }

    /// Limits what the step may use: `.limits(.memory(.gibibytes(4)), .processes(200))`.
    ///
    /// The build box may set lower limits. A step that reaches a limit fails, with the limit as its reason.
    public func limits(_ limits: Limit...) -> Step { with { $0.limits = Limits(limits).or($0.limits) } }

    /// Permits actions that the sandbox otherwise refuses.
    public func allows(_ permissions: SandboxPermission...) -> Step {
        with { step in step.permissions += permissions.filter { !step.permissions.contains($0) } }
    }

    /// Keeps a folder from run to run: `.cache("swiftpm", at: "~/.cache/org.swift.swiftpm")`.
    ///
    /// Only runs of merged code write it. A run of a change sees it as the last merged run left it, and what the change
    /// writes to it is not kept.
    public func cache(_ name: String, at path: String) -> Step {
        with { $0.caches.append(CacheUse(name: name, path: path)) }
    }

    /// Gives the step a terminal of 80 columns, for programs that show colours or progress only on one.
    public func terminal() -> Step { with { $0.hasTerminal = true } }

    /// Gives the step secrets. Only runs of merged code get them.
    ///
    /// - Parameters:
    ///   - names: Names of secrets that `pipectl secrets` stores.
    ///   - delivery: As a file whose path is in `DEPLOY_TOKEN_FILE` for the secret `DEPLOY_TOKEN`, or as the value of
    ///     the variable `DEPLOY_TOKEN`.
    public func secrets(_ names: String..., as delivery: SecretDelivery = .file) -> Step {
        with { $0.secrets += names.map { SecretUse($0, as: delivery) } }
    }

    /// Declares the files of the repository that the step reads, as paths and globs. A folder stands for all files in
    /// it.
    ///
    /// Default: all files. The step's result is a proof for every run in which these files, and everything else that
    /// the key contains, are the same. What the needed steps make is part of the key anyway; don't name it here.
    public func inputs(_ globs: String...) -> Step { with { $0.inputs += globs } }

    /// Declares that only these files decide the step's result, whatever the steps that it needs have read.
    ///
    /// For example, a build compiles the tests of all targets, but the result of one target's tests depends on a few
    /// files: `Step("test Model", needs: build, run: "swift test --skip-build --filter '^ModelTests\\.'").inputs(only:
    /// "Package.swift", "Sources/Model", "Tests/ModelTests")` stays proved when other targets change. The other
    /// properties of the needed steps, such as their commands and variables, still count.
    public func inputs(only glob: String, _ more: String...) -> Step {
        with { step in
            step.inputs += [glob] + more
            step.inputsCoverNeeds = true
        }
    }

    /// Declares all files that the step makes for later steps, as globs below the workspace.
    ///
    /// They are stored, and restored when this step is proved but a step that needs it must run. `.outputs()` without
    /// globs declares that the step makes nothing for later steps. A step without this modifier runs again when a step
    /// that needs it must run.
    public func outputs(_ globs: String...) -> Step {
        with { step in
            step.outputs += globs
            step.leavesNothing = step.outputs.isEmpty
        }
    }

    /// Declares that the step must run every time, because its result depends on more than files: the time, the commit.
    public func neverProved(_ on: Bool = true) -> Step { with { $0.isNeverProved = on } }

    /// Declares that the step publishes `value`.
    public func publishes<Content>(_ value: Value<Content>) -> Step { with { $0.publishes.append(value.name) } }

    /// Declares that the step reads `value`, which a step that it needs publishes.
    public func reads<Content>(_ value: Value<Content>) -> Step { with { $0.reads.append(value.name) } }

    private func with(_ change: (inout PlannedStep) -> Void) -> Step {
        var copy = self
        change(&copy.planned)
        return copy
    }
}

extension Duration {
    /// A duration of whole minutes.
    public static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }

    /// A duration of whole hours.
    public static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }

    /// The duration as a number of seconds.
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
