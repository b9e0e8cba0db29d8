public import Diagnostics
public import Reports
public import Results

/// The facts about a run from which its check is written.
public struct ForgeRunFacts: Sendable {
    /// A step of a live run.
    public struct Step: Sendable, Equatable {
        public var name: String
        public var status: StepStatus
        /// How long it took, in seconds; nil until it ended.
        public var seconds: Double?

        public init(name: String, status: StepStatus, seconds: Double? = nil) {
            self.name = name
            self.status = status
            self.seconds = seconds
        }
    }

    /// The run's row of the store.
    public var summary: RunSummary
    /// The steps of a live run; empty until they are known.
    public var steps: [Step]
    /// The report of an ended run, if the archive has it.
    public var document: ReportDocument?
    /// What the change alters; nil for runs of branches, and where it is not needed or not known.
    public var delta: ChangeDelta?
    /// The names of the result files of an ended run.
    public var resultFiles: [String] = []
    /// The run's page; nil if there is none.
    public var link: String?
    /// Whether presses of buttons reach pipectl.
    public var hasButtons: Bool

    public init(
        summary: RunSummary, steps: [Step] = [], document: ReportDocument? = nil, delta: ChangeDelta? = nil,
        link: String? = nil, hasButtons: Bool = false
    ) {
        self.summary = summary
        self.steps = steps
        self.document = document
        self.delta = delta
        self.link = link
        self.hasButtons = hasButtons
    }
}
