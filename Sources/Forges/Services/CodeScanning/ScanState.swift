public import Results

/// A SARIF file that the forge's code scanning should receive.
public struct ScanState: Sendable, Equatable, Codable {
    /// The workflow whose step created it.
    public var workflow: String
    /// The run whose step created it.
    public var run: RunID
    /// The step's index in the plan; below, the index of the file among the step's files.
    public var step: Int
    public var number: Int
    /// The file's name in the archive.
    public var file: String
    /// The full id of the commit that was pushed.
    public var commit: String
    /// The pushed ref, such as `refs/heads/main` or `refs/pull/7/head`.
    public var ref: String

    public init(
        workflow: String, run: RunID, step: Int, number: Int, file: String, commit: String, ref: String
    ) {
        self.workflow = workflow
        self.run = run
        self.step = step
        self.number = number
        self.file = file
        self.commit = commit
        self.ref = ref
    }
}
