/// How the steps of a workflow came out before, as far as their order is concerned.
public struct StepHistory: Sendable, Equatable {
    /// One step, by its name.
    public struct Record: Sendable, Equatable {
        /// Runs in which it passed or failed, of those that were looked at.
        public var runs: Int
        /// Those of them in which it failed or was timed out.
        public var failures: Int
        /// The median of its times, in seconds of wall-clock time; nil where none is known.
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

    public var steps: [String: Record]

    public init(steps: [String: Record] = [:]) { self.steps = steps }
}
