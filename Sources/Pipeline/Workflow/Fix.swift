/// A command that tries to fix a change whose run has failed: `.onFailure(Fix(by: "agent fix", attempts: 2))`.
///
/// The command works on a copy of the failed run's files, in the sandbox and without secrets. It reads what is wrong on
/// standard input: docs/fix.md describes that. From the files that it leaves, pipectl makes a commit on top of the
/// change. If the same workflow passes on that commit, and no test was weakened, the commit is offered.
public struct Fix: Sendable, Equatable, Codable {
    /// What happens to a fix that passes.
    public enum Push: String, Sendable, Codable {
        /// It stays on the build box, as a ref and as a patch.
        case never
        /// It is pushed to the change's own branch, if that is known and still at the commit that failed.
        case ownBranch
    }

    /// The most attempts that a workflow may declare.
    public static let mostAttempts = 5

    /// A line for `/bin/sh -e`.
    public var command: String
    /// The most attempts. Each is checked by a run of the workflow.
    public var attempts: Int
    /// The longest wall-clock time of one attempt, in seconds.
    public var timeout: Double
    /// What happens to a fix that passes.
    public var push: Push
    /// Whether the command may use the network.
    public var network: NetworkAccess
    /// What one attempt may use, within the limits of the build box.
    public var limits: Limits

    /// - Parameters:
    ///   - line: A line for `/bin/sh -e`.
    ///   - attempts: The most attempts, from 1 to ``mostAttempts``.
    ///   - limit: The longest wall-clock time of one attempt.
    ///   - push: What happens to a fix that passes.
    ///   - network: Whether the command may use the network. It gets no secrets either way.
    ///   - limits: What one attempt may use, within the limits of the build box.
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

    /// Everything that is wrong with the declaration.
    package var problems: [String] {
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

    /// Enough for an agent and its builds; a command that prints more is ended before it fills the disk.
    private static let usualLimits = Limits([.output(.mebibytes(256)), .workspace(.gibibytes(20))])
}

extension Workflow {
    /// Makes the daemon try to fix a change that fails. It reads this from the target's definition, as everything for a
    /// change.
    ///
    /// Only runs with the verdict "failed" are tried: not those that ended by infrastructure, a conflict or a
    /// cancellation.
    public func onFailure(_ fix: Fix) -> Workflow {
        var copy = self
        copy.declaration.fix = fix
        return copy
    }
}
