/// The result of a run, in one word.
public enum Verdict: String, Sendable, Codable, CaseIterable {
    case passed
    case failed
    /// A test failed and passed again on the same tree.
    case flaky
    /// The build box failed, not the change: a step could not be started, the disk was full, the daemon died.
    case infrastructure
    /// A newer push of the same change replaced the run.
    case superseded
    case cancelled
    case needsApproval
    /// No trigger matches the change: neither its branches nor its filters.
    case notApplicable
    /// The change can't be merged into its target. Nothing was run.
    case conflict
    /// The workflow definition does not compile or is not valid; nothing was run.
    case definitionError

    /// The exit code of a command that waits for this verdict.
    public var exitCode: Int32 {
        switch self {
        case .passed: 0
        case .failed, .conflict: 1
        case .definitionError: 2
        case .infrastructure: 3
        case .superseded, .cancelled: 4
        case .needsApproval: 5
        case .flaky: 6
        case .notApplicable: 7
        }
    }

    /// The words for people: `needs approval`.
    public var title: String {
        switch self {
        case .needsApproval: "needs approval"
        case .notApplicable: "not applicable"
        case .definitionError: "definition error"
        default: rawValue
        }
    }

    /// Higher is worse; used when several verdicts are summed up.
    public var severity: Int {
        switch self {
        case .notApplicable: 0
        case .passed: 1
        case .superseded: 2
        case .flaky: 3
        case .cancelled: 4
        case .needsApproval: 5
        case .infrastructure: 6
        case .conflict: 7
        case .failed: 8
        case .definitionError: 9
        }
    }
}
