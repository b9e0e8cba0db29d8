public import Foundation
public import Results

/// Which runs a list shows.
public struct RunsQuery: Sendable, Codable {
    /// Only this repository: its name, path or URL.
    public var repository: String?
    /// Only this workflow.
    public var workflow: String?
    /// Only this change, by its name.
    public var change: String?
    /// Only this branch, and changes into it.
    public var branch: String?
    /// Only commits whose id begins with this.
    public var commit: String?
    /// Only these states; empty for all.
    public var states: [RunState]
    /// Only these verdicts; empty for all.
    public var verdicts: [Verdict]
    /// Only runs that were accepted since then.
    public var since: Date?
    /// Only runs with a smaller number, for the next page of a list.
    public var before: RunID?
    /// Whether runs that the daemon started for itself in the background are left out; nil is no.
    public var hidesBackground: Bool?
    /// The most runs in the list.
    public var limit: Int

    public init(
        repository: String? = nil, workflow: String? = nil, change: String? = nil, branch: String? = nil,
        commit: String? = nil, states: [RunState] = [], verdicts: [Verdict] = [], since: Date? = nil, limit: Int = 20
    ) {
        self.repository = repository
        self.workflow = workflow
        self.change = change
        self.branch = branch
        self.commit = commit
        self.states = states
        self.verdicts = verdicts
        self.since = since
        self.limit = limit
    }
}
