/// Earlier results of a workflow's steps, as far as the order of steps depends on them.
public struct StepHistory: Sendable, Equatable {
    /// One step, by its name.
    public struct Record: Sendable, Equatable {
        /// The number of runs in which it passed or failed.
        public var runs: Int
        /// The number of these runs in which it failed or timed out.
        public var failures: Int
        /// The median wall-clock time in seconds; nil if no time is known.
        public var seconds: Double?
        /// Whether it failed in an earlier run of the same change.
        public var failedOnChange: Bool

        public init(runs: Int = 0, failures: Int = 0, seconds: Double? = nil, failedOnChange: Bool = false) {
            self.runs = runs
            self.failures = failures
            self.seconds = seconds
            self.failedOnChange = failedOnChange
        }
    }

    /// By the step's name.
    public var steps: [String: Record]

    public init(steps: [String: Record] = [:]) { self.steps = steps }
}
