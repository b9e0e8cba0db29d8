/// The key of a step: digests of everything that its result depends on. If two runs have the same key, one result is
/// valid for both.
public struct StepKey: Sendable, Equatable, Codable {
    /// The parts of a key. Each has a digest of its own, so that one can tell which part differs.
    public enum Part: String, Sendable, Codable, CaseIterable {
        /// The action: the shell line, the arguments, or which closure.
        case command
        /// The variables that the step declares, and those of the daemon that it sees.
        case environment
        /// The values of the run's parameters.
        case parameters
        /// The facts about the run that the step is known to read.
        case context
        /// Trees and blobs of the tested commit.
        case inputs
        /// Sandbox, network, limits, caches, working directory, terminal.
        case permissions
        /// What is read from the step's files: test results, artifacts, outputs.
        case results
        case toolchain
        /// The kind of machine: system, architecture, image.
        case machine = "box"
        /// For a closure: the compiled workflows.
        case program
        /// The keys of the steps that it needs. If its own inputs cover theirs, their keys without files.
        case needs
    }

    /// A digest of all parts, 64 hexadecimal digits.
    public var value: String
    /// A digest of the step's declaration alone, without files. If a proof turns out wrong, all proofs with the same
    /// value are dropped.
    public var definition: String
    /// The first 16 digits of each part's digest, by ``Part``.
    public var parts: [String: String]

    public init(value: String, definition: String, parts: [String: String]) {
        self.value = value
        self.definition = definition
        self.parts = parts
    }

    /// The parts that differ in `other`, in the order of ``Part``.
    public func differences(from other: StepKey) -> [Part] {
        Part.allCases.filter { parts[$0.rawValue] != other.parts[$0.rawValue] }
    }
}

/// The run and its attempt that a result comes from.
public struct ProofCitation: Sendable, Hashable, Codable {
    /// The run's number.
    public var run: Int64
    /// The attempt of the run, not of the step.
    public var attempt: Int
    /// The step's name in that run.
    public var step: String
    /// The commit that was pushed for that run; nil in reports of older versions.
    public var head: String?

    public init(run: Int64, attempt: Int, step: String, head: String? = nil) {
        self.run = run
        self.attempt = attempt
        self.step = step
        self.head = head
    }
}

/// A wrong proof: the step was run nevertheless, and failed.
public struct ProofRefutation: Sendable, Equatable, Codable {
    /// The proof that was wrong.
    public var proof: ProofCitation
    /// ``StepKey/definition`` of the steps whose proofs are dropped.
    public var definition: String
    /// The only scope whose proofs of the step are dropped. Nil: all are dropped, and the step is not proved for some
    /// time.
    ///
    /// If a change contains files that the step does not declare as inputs, that is a fault of the change, not of the
    /// step.
    public var scope: String?

    public init(proof: ProofCitation, definition: String, scope: String? = nil) {
        self.proof = proof
        self.definition = definition
        self.scope = scope
    }
}
