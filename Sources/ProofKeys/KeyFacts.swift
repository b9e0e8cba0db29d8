/// The facts about a run that go into the keys of its steps, beside the plan itself.
public struct KeyFacts: Sendable, Equatable {
    /// The part of the tested tree that a step reads.
    public struct Inputs: Sendable, Equatable {
        /// The digest of the modes, paths and object ids of all matching files.
        public var digest: String
        /// Whether no file in the tree matches the step's patterns.
        public var isEmpty: Bool

        public init(digest: String, isEmpty: Bool = false) {
            self.digest = digest
            self.isEmpty = isEmpty
        }
    }

    /// The tracked files of the tested tree at the paths of a step's outputs.
    public struct Tracked: Sendable, Equatable {
        /// The digest, made like that of ``Inputs``.
        public var digest: String
        /// The paths of the files.
        public var files: [String]

        public init(digest: String, files: [String]) {
            self.digest = digest
            self.files = files
        }
    }

    /// By the list of patterns; the empty list stands for the whole tree.
    public var inputs: [[String]: Inputs] = [:]
    /// By the list of output patterns. Tracked files there are stored with the outputs, so they belong to the key, too.
    public var tracked: [[String]: Tracked] = [:]
    /// Why an entry is missing in ``inputs`` or ``tracked``, by the list of patterns.
    public var unread: [[String]: String] = [:]
    /// The value of each parameter of the run, with defaults filled in.
    public var parameters: [String: String] = [:]
    /// Variables of the daemon's environment that steps see.
    public var environment: [String: String] = [:]
    /// Variables that differ from run to run. One is part of a key, and is given to a step with a key, only if the
    /// step's own text names it.
    public var runVariables: [String: String] = [:]
    /// The tested commit. It is part of a key only if the step's own text calls git.
    public var commit = ""
    /// What a closure can read from its context, without commit ids.
    public var closureContext: [String] = []
    /// The Swift compiler's version line and target.
    public var toolchain = ""
    /// Other facts about the machine that a result may depend on.
    public var machine: [String] = []
    /// The digest of the compiled workflow program.
    public var program = ""
    /// Whether the steps of the run have effects outside, as those of a release have.
    public var isRelease = false
    /// Whether a step can write to folders of the machine; a proof would leave out that effect.
    public var canWriteOutside = false
    /// Definitions of steps whose proofs are not trusted: see ``StepKey/definition``.
    public var distrusted: Set<String> = []

    public init() {}
}
