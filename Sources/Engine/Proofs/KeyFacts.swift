/// What a run brings to the keys of its steps, beside the plan itself.
public struct KeyFacts: Sendable, Equatable {
    /// The tested tree as far as a step reads it.
    public struct Inputs: Sendable, Equatable {
        /// Over modes, paths and ids of what matches.
        public var digest: String
        /// Whether nothing in the tree matches what the step declares.
        public var isEmpty: Bool

        public init(digest: String, isEmpty: Bool = false) {
            self.digest = digest
            self.isEmpty = isEmpty
        }
    }

    /// What of the tested tree is where a step's outputs go.
    public struct Tracked: Sendable, Equatable {
        /// As that of ``Inputs``.
        public var digest: String
        /// The paths of files.
        public var files: [String]

        public init(digest: String, files: [String]) {
            self.digest = digest
            self.files = files
        }
    }

    /// By the list of patterns; the empty list is the whole tree.
    public var inputs: [[String]: Inputs] = [:]
    /// By the list of patterns for outputs. It is kept with them, so it belongs to the key, too.
    public var tracked: [[String]: Tracked] = [:]
    /// Why something is missing in ``inputs`` or ``tracked``, by the list of patterns.
    public var unread: [[String]: String] = [:]
    /// Each parameter of the run, defaults filled in.
    public var parameters: [String: String] = [:]
    /// Variables of the box that steps see.
    public var environment: [String: String] = [:]
    /// Variables that differ from run to run: part of a key only where the step's own text names one, and only then
    /// given to a step that has a key.
    public var runVariables: [String: String] = [:]
    /// The tested commit: part of a key only where the step's own text calls git.
    public var commit = ""
    /// What a closure may read of its context, without the ids of commits.
    public var closureContext: [String] = []
    /// The Swift compiler's version line and target.
    public var toolchain = ""
    /// What else of the box a result may depend on.
    public var box: [String] = []
    /// The digest of the compiled workflows.
    public var program = ""
    /// Whether the steps of the run act on the world.
    public var isRelease = false
    /// Whether a step can change folders of the box, which no later run would see done again.
    public var canWriteOutside = false
    /// Definitions of steps whose proofs are not believed: see ``StepKey/definition``.
    public var distrusted: Set<String> = []

    public init() {}
}
