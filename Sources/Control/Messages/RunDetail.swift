public import Results

/// What the daemon knows of one run.
public struct RunDetail: Sendable, Codable {
    /// The run, as lists show it.
    public var summary: RunSummary
    /// Set while it runs.
    public var live: LiveRun?
    /// For a queued run, how many are before it.
    public var behind: Int?
    /// For a run that needs approval: its report so far.
    public var held: Report?
    /// The address of its page; nil where the daemon shows no pages.
    public var page: String?

    package init(summary: RunSummary, live: LiveRun?, behind: Int?, held: Report?) {
        self.summary = summary
        self.live = live
        self.behind = behind
        self.held = held
    }
}
