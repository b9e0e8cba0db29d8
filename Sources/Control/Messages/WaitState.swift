public import Results
public import Foundation

/// The state of a wait for a verdict. Each is complete, so it does not matter if one is missed.
public struct WaitState: Sendable, Codable, Equatable {
    /// What is waited for, in words. It changes with the subject, as when a branch moves.
    public var subject: String
    /// The commit, once it is known.
    public var commit: String?
    /// The newest run of each workflow, oldest first.
    public var runs: [WaitedRun] = []
    /// Why there is no run yet: `not seen yet: …`.
    public var unseen: String?
    /// What a person should know about the wait: that another run replaced one.
    public var notes: [String] = []
    /// Set when the wait has ended.
    public var conclusion: WaitConclusion?

    public init(subject: String, commit: String? = nil) {
        self.subject = subject
        self.commit = commit
    }
}

/// How a wait ended.
public struct WaitConclusion: Sendable, Codable, Equatable {
    /// The verdict of the worst run.
    public var verdict: Verdict
    /// The reason, as a sentence.
    public var reason: String
    /// The run that decided; nil if nothing runs for the subject.
    public var run: RunID?
    /// Whether the run still goes on: a step of it has finally failed, and others have not ended.
    public var isEarly: Bool
    /// The command to type next, if nothing runs.
    public var next: String?

    public init(verdict: Verdict, reason: String, run: RunID?, isEarly: Bool = false, next: String? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.run = run
        self.isEarly = isEarly
        self.next = next
    }
}

/// A run that a wait includes.
public struct WaitedRun: Sendable, Codable, Equatable, Identifiable {
    /// The state of a run.
    public enum State: String, Sendable, Codable {
        case queued, running, needsApproval, ended
    }

    /// The run's number.
    public var id: RunID
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// What it tests, in words.
    public var subject: String
    /// The pushed commit.
    public var head: String
    /// The run's state.
    public var state: State
    /// The number of runs before it in the queue.
    public var behind: Int?
    /// Why it waits, if not only for its turn; what is being prepared; why it needs approval.
    public var detail: String?
    public var stepsEnded: Int?
    public var steps: Int?
    /// The steps that run now.
    public var current: [String]?
    /// The step that finally failed while others still run.
    public var failedStep: String?
    /// When its steps will have ended if they take their median time; nil if that is not known.
    public var expectedEnd: Date?
    /// The most runs that ``expectedEnd`` is the median of.
    public var expectedFrom: Int?
    /// The address of its page; nil where the daemon shows no pages.
    public var page: String?
    /// Nil until the run has ended.
    public var verdict: Verdict?
    /// The reason for the verdict, in one sentence.
    public var reason: String?

    package init(_ run: RunSummary, subject: String, state: State) {
        id = run.id
        repository = run.repository
        workflow = run.workflow
        self.subject = subject
        head = run.head
        self.state = state
    }

    /// Whether the two look the same to somebody who waits. A difference of less than two seconds in the expected end
    /// does not count.
    package func isLike(_ other: WaitedRun) -> Bool {
        var (one, two) = (self, other)
        (one.expectedEnd, two.expectedEnd) = (nil, nil)
        guard one == two else { return false }
        switch (expectedEnd, other.expectedEnd) {
        case (nil, nil): return true
        case (let here?, let there?): return abs(here.timeIntervalSince(there)) < 2
        default: return false
        }
    }
}

extension WaitState {
    /// Whether this state tells nothing new to somebody who knows the other one.
    package func isLike(_ other: WaitState) -> Bool {
        var (one, two) = (self, other)
        (one.runs, two.runs) = ([], [])
        return one == two && runs.count == other.runs.count && zip(runs, other.runs).allSatisfy { $0.isLike($1) }
    }
}

extension WaitedRun {
    /// `queued behind 3`, or `running, 2 of 7 steps, about 40 s left (median of last 20)`.
    public func inWords(at now: Date) -> String {
        switch state {
        case .queued:
            let place = behind.map { $0 == 0 ? "queued, next" : "queued behind \($0)" } ?? "queued"
            return place + (detail.map { "; \($0)" } ?? "")
        case .needsApproval: return "needs approval" + (detail.map { ": \($0)" } ?? "")
        case .ended: return (verdict?.title ?? "ended") + (reason.map { ": \($0)" } ?? "")
        case .running:
            guard let steps, let stepsEnded else { return detail.map { "running, \($0)" } ?? "running" }
            var text = "running, \(stepsEnded) of \(steps) steps"
            if let failedStep { text += ", \"\(failedStep)\" failed" }
            if let detail { text += ", \(detail)" }
            if let expectedEnd, let expectedFrom {
                let left = expectedEnd.timeIntervalSince(now)
                text +=
                    left > 0
                    ? ", about \(Figures.duration(left.rounded(.up))) left (median of last \(expectedFrom))"
                    : ", longer than usual (median of last \(expectedFrom))"
            }
            return text
        }
    }
}
