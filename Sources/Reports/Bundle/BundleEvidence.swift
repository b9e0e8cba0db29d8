/// What a bundle says beyond the report itself: from the repository, and from other runs.
public struct BundleEvidence: Sendable {
    /// What the change changes, bounded by who reads it.
    public var hunks: [RunBundle.Hunk] = []
    /// By test id, how often it was seen to be flaky: `failed and passed on one tree in 3 of its last 50 runs`.
    public var flaky: [String: String] = [:]
    /// By test id, where a test is declared whose results name no file.
    public var places: [String: Place] = [:]
    /// By path, the first line of a conflicting file that conflicts.
    public var conflictLines: [String: Int] = [:]
    /// Whether the run goes on: the report is as far as it has come.
    public var isRunning = false

    public struct Place: Sendable, Equatable {
        public var file: String
        public var line: Int

        public init(file: String, line: Int) {
            self.file = file
            self.line = line
        }
    }

    public init() {}
}
