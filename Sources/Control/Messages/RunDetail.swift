public import Results

/// What the daemon knows of one run.
public struct RunDetail: Sendable, Codable {
    /// The run, as lists show it.
    public var summary: RunSummary
    /// Set while it runs.
    public var live: LiveRun?
    /// For a queued run, how many are before it.
    public var behind: Int?
    /// Why a queued run waits, if not only for its turn, with the command that ends the wait.
    public var waitsFor: String?
    /// For a run that needs approval: its report so far.
    public var held: Report?
    /// The address of its page; nil where the daemon shows no pages.
    public var page: String?

    /// Why it waits in the queue, in words; nil if it is not queued.
    public var wait: String? { waitsFor ?? behind.map { "queued behind \($0)" } }

    package init(summary: RunSummary, live: LiveRun?, behind: Int?, held: Report?) {
        self.summary = summary
        self.live = live
        self.behind = behind
        self.held = held
    }
}
