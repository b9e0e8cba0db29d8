package import Foundation
package import Results

/// A run of a task as far as it has come.
package struct TaskRun: Sendable, Equatable {
    package var id: RunID
    package var role: TaskRole
    package var createdAt: Date
    /// Nil while it waits or runs.
    package var verdict: Verdict?
    package var reason: String
    /// What its agent left.
    package var outcome: TaskOutcome?
    /// The tests that failed, and those that passed, by name. Only for runs of workflows that have ended.
    package var failed: [String]
    package var passed: Set<String>
    /// Of a reproduction: the tests that fail on the same commit of the target without those of the try; nil: no run of it
    /// has said so yet.
    package var redBefore: Set<String>?
    /// The tests that pass there.
    package var greenBefore: Set<String> = []
    /// How many ways were found in which it weakens tests.
    package var breaches: Int
    /// What the reviewer found.
    package var findings: [ReviewFinding]

    package init(
        id: RunID, role: TaskRole, createdAt: Date, verdict: Verdict? = nil, reason: String = "",
        outcome: TaskOutcome? = nil, failed: [String] = [], passed: Set<String> = [],
        redBefore: Set<String>? = nil, breaches: Int = 0, findings: [ReviewFinding] = []
    ) {
        self.id = id
        self.role = role
        self.createdAt = createdAt
        self.verdict = verdict
        self.reason = reason
        self.outcome = outcome
        self.failed = failed
        self.passed = passed
        self.redBefore = redBefore
        self.breaches = breaches
        self.findings = findings
    }

    var isLive: Bool { verdict == nil }

    /// Whether it ended without saying anything of the work: the build box failed, or it was stopped.
    var saysNothing: Bool {
        switch verdict {
        case .infrastructure, .cancelled, .superseded, .notApplicable: true
        default: false
        }
    }
}
