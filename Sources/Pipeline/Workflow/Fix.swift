/// What is done about a change whose run has failed: `.onFailure(Fix(by: "agent fix", attempts: 2))`.
///
/// The command works on a copy of the failed run's files, in the sandbox and without secrets, and finds what is wrong on
/// standard input: docs/fix.md has all that it is given. What it leaves in the workspace becomes a commit on top of the
/// change, made by the box. If the same workflow passes on that, and no test was weakened, the commit is offered.
public struct Fix: Sendable, Equatable, Codable {
    /// What becomes of a fix that passes.
    public enum Push: String, Sendable, Codable {
        /// It stays on the box, as a ref and as a patch.
        case never
        /// It is pushed to the change's own branch, where that is known and still at the commit that failed.
        case ownBranch
    }

    /// Attempts that a workflow may ask for, at most.
    public static let mostAttempts = 5

    /// A line for `/bin/sh -e`.
    public var command: String
    /// How often it may try; each attempt is checked by a run of the workflow.
    public var attempts: Int
    /// Seconds that one attempt may take.
    public var timeout: Double
    public var push: Push
    public var network: NetworkAccess
    public var limits: Limits

    /// - Parameters:
    ///   - line: For `/bin/sh -e`.
    ///   - attempts: How often it may try, from 1 to ``mostAttempts``.
    ///   - limit: How long one attempt may take.
    ///   - push: What becomes of a fix that passes.
    ///   - network: Whether the command may use the network; it is given no secret either way.
    ///   - limits: What one attempt may use, beside what the box allows.
    public init(
        by line: String, attempts: Int = 1, within limit: Duration = .minutes(10), push: Push = .never,
        network: NetworkAccess = .denied, limits: Limit...
    ) {
        command = line
        self.attempts = attempts
        timeout = limit.inSeconds
        self.push = push
        self.network = network
        self.limits = Limits(limits).or(Fix.usualLimits)
    }

    /// All that is wrong with what was declared.
    var problems: [String] {
        var problems: [String] = []
        if command.allSatisfy(\.isWhitespace) {
            problems.append("the command of a fix is empty: Fix(by: \"agent fix\")")
        }
        if !(1...Fix.mostAttempts).contains(attempts) {
            problems.append("a fix has \(attempts) attempts; allowed: 1 to \(Fix.mostAttempts)")
        }
        if !(timeout > 0) { problems.append("a fix may take \(timeout) s; use a time above 0") }
        return problems
    }

    /// Enough for an agent and its builds; a talkative one is ended before it fills the box.
    private static let usualLimits = Limits([.output(.mebibytes(256)), .workspace(.gibibytes(20))])
}

extension Workflow {
    /// Has the box try to mend a change that fails: read from the target's definition, as everything is for a change.
    ///
    /// Only a run that failed is tried, never one that the box, a conflict or a person ended.
    public func onFailure(_ fix: Fix) -> Workflow {
        var copy = self
        copy.declaration.fix = fix
        return copy
    }
}
