extension Step {
    /// The longest that one attempt may take; then it is ended with everything it started. Default: 1 hour.
    public func timeout(_ limit: Duration) -> Step { with { $0.timeout = limit.inSeconds } }

    /// Tries again after a failure, `count` times at most.
    ///
    /// - Parameters:
    ///   - condition: Which failures are worth another attempt.
    ///   - backoff: How long to wait before each further attempt.
    public func retries(
        _ count: Int, on condition: RetryCondition = .anyFailure, backoff: Backoff = .constant(.zero)
    ) -> Step {
        with { $0.retry = RetryPolicy(count: count, condition: condition, backoff: backoff) }
    }

    /// Declares that doing it twice is as good as doing it once, so that the box may do it again after it went down.
    ///
    /// Only counts in workflows that act on the world (started by a merge or a tag, and by no change): there, a step
    /// without this is started at most once for as long as its end is not known. Say it of steps that only make files
    /// in the workspace, and of those that ask first whether their work is done.
    public func idempotent(_ on: Bool = true) -> Step { with { $0.isIdempotent = on } }

    /// Lets the run pass although this step fails; the report still shows it, and steps that need it still start.
    public func allowFailure(_ allowed: Bool = true) -> Step { with { $0.allowsFailure = allowed } }

    /// Runs when everything it needs has ended, however it ended: for clean-up. Needs nothing = runs last.
    public func always() -> Step { with { $0.condition = .always } }

    /// Runs when something it needs has failed (needs nothing = anything in the run): for notification.
    public func onFailure() -> Step { with { $0.condition = .onFailure } }

    /// Adds environment variables, over those that every step sees.
    public func environment(_ variables: [String: String]) -> Step {
        with { $0.environment.merge(variables) { _, new in new } }
    }

    /// The folder to run in, below the workspace.
    public func workingDirectory(_ path: String) -> Step { with { $0.workingDirectory = path } }

    /// Files (or output) to read test results from when the step ends, passed or not.
    public func testResults(_ sources: TestResultSource...) -> Step { with { $0.testResults += sources } }

    /// Where to read what compilers, linters and checkers say about files, whether the step passes or not:
    /// `.findings(.sarif("build/*.sarif"))`, `.findings(.output)`.
    ///
    /// They are shown beside the tests and held against the target's; the step's exit code decides as before.
    public func findings(_ sources: FindingSource...) -> Step { with { $0.findings = ($0.findings ?? []) + sources } }

    /// Files to keep with the report, as globs below the workspace: `"dist/*.tar.gz"`.
    public func artifacts(_ globs: String...) -> Step { with { $0.artifacts += globs } }

    /// Holds `units` of a resource while it runs; waits until the box has them free.
    public func uses(_ resource: Resource, _ units: Int = 1) -> Step {
        with { $0.resources.append(ResourceUse(resource: resource, units: units)) }
    }

    /// Says whether the step may use the network.
    public func network(_ access: NetworkAccess) -> Step { with { $0.network = access } }

    /// Limits what the step may use: `.limits(.memory(.gibibytes(4)), .processes(200))`.
    ///
    /// The box may set less. A limit that is reached fails the step, and is its reason.
    public func limits(_ limits: Limit...) -> Step { with { $0.limits = Limits(limits).or($0.limits) } }

    /// Lets the step do in its sandbox what is refused otherwise.
    public func allows(_ permissions: SandboxPermission...) -> Step {
        with { step in step.permissions += permissions.filter { !step.permissions.contains($0) } }
    }

    /// Keeps a folder from run to run: `.cache("swiftpm", at: "~/.cache/org.swift.swiftpm")`.
    ///
    /// Only runs of merged code write it. A change sees it as the last merged run left it and can't write to it.
    public func cache(_ name: String, at path: String) -> Step {
        with { $0.caches.append(CacheUse(name: name, path: path)) }
    }

    /// Gives the step a terminal of 80 columns, for programs that show colours or progress only there.
    public func terminal() -> Step { with { $0.hasTerminal = true } }

    /// Names the secrets that the step needs. They are given to runs of merged code only.
    ///
    /// - Parameter delivery: As a file, whose path is in `DEPLOY_TOKEN_FILE` for the secret `DEPLOY_TOKEN`; or as the
    ///   value of the variable `DEPLOY_TOKEN`.
    public func secrets(_ names: String..., as delivery: SecretDelivery = .file) -> Step {
        with { $0.secrets += names.map { SecretUse($0, as: delivery) } }
    }

    /// Declares what the step reads, as paths and globs of the repository; a folder stands for all in it.
    ///
    /// Default: the whole tree. The step's result is a proof for every run in which these files, and what else its result
    /// depends on, are the same. What the steps that it needs have made belongs to it and is not named here.
    public func inputs(_ globs: String...) -> Step { with { $0.inputs += globs } }

    /// Declares what the step reads, and that no other file decides its result, also of those that the steps it needs
    /// have read.
    ///
    /// A build makes the tests of all targets, and those of one target depend on some of the files it reads:
    /// `Step("test Model", needs: build, run: "swift test --skip-build --filter '^ModelTests\\.'").inputs(only:
    /// "Package.swift", "Sources/Model", "Tests/ModelTests")` stays proved when tests of other targets change. What the
    /// needed steps are otherwise, such as their commands and variables, counts all the same.
    public func inputs(only glob: String, _ more: String...) -> Step {
        with { step in
            step.inputs += [glob] + more
            step.inputsCoverNeeds = true
        }
    }

    /// Declares everything that the step makes and later steps need, as globs below the workspace.
    ///
    /// It is kept, and put in place when the step is proved and a step that needs it is not. `.outputs()`, with nothing,
    /// says that the step leaves nothing; without this modifier such a step is run again.
    public func outputs(_ globs: String...) -> Step {
        with { step in
            step.outputs += globs
            step.leavesNothing = step.outputs.isEmpty
        }
    }

    /// Declares that the step is run each time: its result depends on more than files, such as the time or the commit.
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
