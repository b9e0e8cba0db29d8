public import Results

/// A run that a person or an agent starts by hand.
public struct StartRequest: Sendable, Codable {
    /// What is tested.
    public enum Subject: Sendable, Codable {
        /// A branch, tag or commit of the repository.
        case revision(String)
        /// A change by its name, tested as its merge with the target.
        case change(String)
        /// A commit with the contents of the working tree, made by the command.
        case workingTree(commit: String)
    }

    /// The path or URL of the repository that the caller is in.
    public var location: String
    /// The repository by its name or location, which then counts instead of ``location``; nil for the one there.
    public var repository: String?
    /// The workflow's name.
    public var workflow: String
    /// What to run it on.
    public var subject: Subject
    /// The given parameters; defaults are filled in later.
    public var parameters: [String: String]
    /// Only these steps and the steps they need; empty for all.
    public var steps: [String]
    /// Only these tests, by their names in reports or a part of them; nil or empty for all.
    public var tests: [String]?
    /// The URL that the caller's repository was cloned from: a change that is unknown here is looked up there.
    public var origin: String?
    /// Started in the foreground by `pipectl run`; not resumed after a crash of the daemon.
    public var isForeground: Bool
    /// Whether every step is run, also those that an earlier run proved.
    public var refusesProofs = false
    /// Whether it starts in a fresh workspace although there is a snapshot.
    public var isClean = false
    /// Whether an agent asks, who may not start a run that needs a person.
    public var isForAgent = false

    public init(
        location: String, workflow: String, subject: Subject, parameters: [String: String] = [:],
        steps: [String] = [], isForeground: Bool = false
    ) {
        self.location = location
        self.workflow = workflow
        self.subject = subject
        self.parameters = parameters
        self.steps = steps
        self.isForeground = isForeground
    }
}

/// A run that is to be repeated.
public struct RerunRequest: Sendable, Codable {
    /// The run to repeat.
    public var run: RunID
    /// Only the steps that did not pass: in the retained workspace of the run where there is one.
    public var failedOnly = false
    /// Only these steps and the steps they need; empty for all.
    public var steps: [String] = []
    /// Whether steps that other runs proved are left out. By default a rerun runs all steps.
    public var usesProofs = false
    /// Whether it starts in a fresh workspace.
    public var isClean = false
    /// Whether an agent asks, who may not repeat a run that needs a person.
    public var isForAgent = false

    public init(run: RunID) { self.run = run }
}
