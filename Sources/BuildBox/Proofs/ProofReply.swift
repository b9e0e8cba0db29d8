public import Results

/// What stands for a step of a workflow, and why it would be run otherwise.
public struct StepReasoning: Sendable, Equatable, Codable {
    /// How the step would be treated now.
    public enum Standing: String, Sendable, Codable {
        /// It is proved, and not run.
        case proved
        /// It is proved; what it made is put in place for a step that is run.
        case restored
        /// It is proved and run all the same: a step that is run needs what it makes, and that was not kept.
        case runForItsOutputs
        /// There is a proof of the step, but not for these inputs.
        case changed
        /// There is no proof of the step at all that counts here.
        case unproved
        /// No result may stand for it.
        case never
    }

    public var step: String
    public var standing: Standing
    /// The run that proves it, or has proved it for other inputs.
    public var run: RunID?
    /// Why, as a sentence without its end.
    public var reason: String
    /// Which parts of the key differ from the newest proof of the step.
    public var parts: [StepKey.Part] = []
    /// Paths of its inputs that differ from those of that proof; the first ones.
    public var paths: [String] = []

    public init(step: String, standing: Standing, run: RunID? = nil, reason: String) {
        self.step = step
        self.standing = standing
        self.run = run
        self.reason = reason
    }
}

/// What a box knows of proofs.
public struct ProofStatus: Sendable, Codable {
    public var counts: [ProofCount]
    /// Steps whose proofs are not believed.
    public var distrusted: [DistrustedStep]
}
