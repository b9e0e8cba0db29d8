public import Results

/// Whether a step would be proved or run, and why.
public struct StepReasoning: Sendable, Equatable, Codable {
    /// What would happen to the step now.
    public enum Standing: String, Sendable, Codable {
        /// It is proved and would not run.
        case proved
        /// It is proved and would not run; its outputs would be restored for a step that runs.
        case restored
        /// It is proved but would run: a step that runs needs its outputs, which were not kept.
        case runForItsOutputs
        /// It would run: there is a proof of it, but for other inputs.
        case changed
        /// It would run: there is no proof of it that is valid here.
        case unproved
        /// It always runs.
        case never
    }

    /// The step's name.
    public var step: String
    /// Whether the step is proved.
    public var standing: Standing
    /// The run that proved it, for these inputs or for others.
    public var run: RunID?
    /// The reason, as a sentence without its full stop.
    public var reason: String
    /// The parts of the key that differ from the newest proof of the step.
    public var parts: [StepKey.Part] = []
    /// The first of the input paths that differ from those of that proof.
    public var paths: [String] = []

    public init(step: String, standing: Standing, run: RunID? = nil, reason: String) {
        self.step = step
        self.standing = standing
        self.run = run
        self.reason = reason
    }
}

/// What the daemon knows of proofs.
public struct ProofStatus: Sendable, Codable {
    /// The number of proofs of each step.
    public var counts: [ProofCount]
    /// Steps whose proofs are not trusted.
    public var distrusted: [DistrustedStep]

    package init(counts: [ProofCount], distrusted: [DistrustedStep]) {
        self.counts = counts
        self.distrusted = distrusted
    }
}
