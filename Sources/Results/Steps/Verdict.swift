/// What a run says, in one word.
public enum Verdict: String, Sendable, Codable, CaseIterable {
    case passed
    case failed
    /// A test failed and passed again on the same tree.
    case flaky
    /// The box failed, not the change: a step could not be started, the disk was full, the daemon died.
    case infrastructure
    /// A newer push of the same change took its place.
    case superseded
    case cancelled
    case needsApproval
    /// No path filter or trigger applies to what changed.
    case notApplicable
    /// The change can't be merged into its target; nothing was run.
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

    /// As people read it: `needs approval`.
    public var title: String {
        switch self {
        case .needsApproval: "needs approval"
        case .notApplicable: "not applicable"
        case .definitionError: "definition error"
        default: rawValue
        }
    }

    /// How bad the verdict is when several are summed up; higher is worse.
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
