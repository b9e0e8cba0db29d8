/// Facts for a bundle that are not in the report: from the repository, and from other runs.
public struct BundleEvidence: Sendable {
    /// The parts of the change. The caller limits their number and size.
    public var hunks: [RunBundle.Hunk] = []
    /// How often a test was flaky, by test id: `failed and passed on one tree in 3 of its last 50 runs`.
    public var flaky: [String: String] = [:]
    /// Where a test is declared, by test id, for tests whose results name no file.
    public var places: [String: Place] = [:]
    /// The first conflicting line of a conflicting file, by path.
    public var conflictLines: [String: Int] = [:]
    /// Whether the run is still running, so that the report is not complete.
    public var isRunning = false

    /// A file and a line in it.
    public struct Place: Sendable, Equatable {
        /// Relative to the top of the repository.
        public var file: String
        /// From 1.
        public var line: Int

        public init(file: String, line: Int) {
            self.file = file
            self.line = line
        }
    }

    public init() {}
}
