/// What a step's result depends on, as digests: where two runs have the same key, one result holds for both.
public struct StepKey: Sendable, Equatable, Codable {
    /// The parts that a key is made of; each is kept as a digest of its own, to say which one differs.
    public enum Part: String, Sendable, Codable, CaseIterable {
        /// The action: the line, the words, or which closure.
        case command
        /// Variables that the step declares, and those of the box that it sees.
        case environment
        /// The values of the run's parameters.
        case parameters
        /// What of the run itself the step is known to read.
        case context
        /// Trees and blobs of the tested commit.
        case inputs
        /// Sandbox, network, limits, caches, working folder, terminal.
        case permissions
        /// What is read from the step's files: test results, artifacts, outputs.
        case results
        case toolchain
        /// The class of machine: system, architecture, image.
        case box
        /// For a closure: the compiled workflows.
        case program
        /// The keys of the steps that it needs; where its own inputs cover them, their keys without files.
        case needs
    }

    /// 64 hexadecimal digits over all parts.
    public var value: String
    /// Over what the workflow says of the step alone, without files: names the class whose proofs go when one was wrong.
    public var definition: String
    /// By ``Part``, the first 16 digits of its digest.
    public var parts: [String: String]

    public init(value: String, definition: String, parts: [String: String]) {
        self.value = value
        self.definition = definition
        self.parts = parts
    }

    /// Which parts are not the same in `other`, in the order of ``Part``.
    public func differences(from other: StepKey) -> [Part] {
        Part.allCases.filter { parts[$0.rawValue] != other.parts[$0.rawValue] }
    }
}

/// The run and its attempt that a result comes from.
public struct ProofCitation: Sendable, Hashable, Codable {
    public var run: Int64
    /// Of the run, not of the step.
    public var attempt: Int
    /// The step's name there.
    public var step: String
    /// The commit that was pushed for that run; nil in reports from before it was noted.
    public var head: String?

    public init(run: Int64, attempt: Int, step: String, head: String? = nil) {
        self.run = run
        self.attempt = attempt
        self.step = step
        self.head = head
    }
}

/// A proof that did not hold when the step was run all the same.
public struct ProofRefutation: Sendable, Equatable, Codable {
    public var proof: ProofCitation
    /// ``StepKey/definition`` of the steps whose proofs are no longer believed.
    public var definition: String
    /// The only scope that loses its proofs of the step; nil where everybody does, and the step is not believed for a while.
    ///
    /// A change that brings files which the step does not declare says something about itself, not about the step.
    public var scope: String?

    public init(proof: ProofCitation, definition: String, scope: String? = nil) {
        self.proof = proof
        self.definition = definition
        self.scope = scope
    }
}
