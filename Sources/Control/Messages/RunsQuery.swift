public import Foundation
public import Results

/// Which runs a list shows.
public struct RunsQuery: Sendable, Codable {
    public var repository: String?
    public var workflow: String?
    public var change: String?
    public var branch: String?
    public var commit: String?
    public var states: [RunState]
    public var verdicts: [Verdict]
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
