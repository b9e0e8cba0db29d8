public import Results
public import Foundation

/// How far a wait for a verdict is; each is whole, so one that was missed is no loss.
public struct WaitState: Sendable, Codable, Equatable {
    /// What is waited for, in words; follows where the subject goes.
    public var subject: String
    /// The commit that it is about, once known.
    public var commit: String?
    /// The runs that count, oldest first; of each workflow the newest.
    public var runs: [WaitedRun] = []
    /// Why there is none yet: `not seen yet: …`.
    public var unseen: String?
    /// What happened on the way that a person wants to know: a run that took the place of another.
    public var notes: [String] = []
    /// Set when the wait is over.
    public var conclusion: WaitConclusion?

    public init(subject: String, commit: String? = nil) {
        self.subject = subject
        self.commit = commit
    }
}

/// How a wait ended.
public struct WaitConclusion: Sendable, Codable, Equatable {
    public var verdict: Verdict
    /// Why, in a sentence.
    public var reason: String
    /// The run that decided; nil where nothing is run for the subject.
    public var run: RunID?
    /// Whether that run goes on: a step of it has failed for good, and others have not ended.
    public var isEarly: Bool
    /// The command to type next, where the verdict is that nothing runs.
    public var next: String?

    public init(verdict: Verdict, reason: String, run: RunID?, isEarly: Bool = false, next: String? = nil) {
        self.verdict = verdict
        self.reason = reason
        self.run = run
        self.isEarly = isEarly
        self.next = next
    }
}

/// One run that somebody waits for.
public struct WaitedRun: Sendable, Codable, Equatable, Identifiable {
    /// Where it is.
    public enum State: String, Sendable, Codable {
        case queued, running, needsApproval, ended
    }

    public var id: RunID
    public var repository: String
    public var workflow: String
    /// What it tests, in words.
    public var subject: String
    public var head: String
    public var state: State
    /// Runs that are before it in the queue.
    public var behind: Int?
    /// What it waits for, if not only for its turn; what the box prepares; why a person is asked.
    public var detail: String?
    public var stepsEnded: Int?
    public var steps: Int?
    /// The steps that run now.
    public var current: [String]?
    /// The step that failed for good while others go on.
    public var failedStep: String?
    /// When its steps will have ended if they take as long as they mostly do; nil where that is not known.
    public var expectedEnd: Date?
    /// How many runs ``expectedEnd`` looks back at, at most.
    public var expectedFrom: Int?
    public var verdict: Verdict?
    public var reason: String?

    package init(_ run: RunSummary, subject: String, state: State) {
        id = run.id
        repository = run.repository
        workflow = run.workflow
        self.subject = subject
        head = run.head
        self.state = state
    }

    /// Whether the two say the same to somebody who waits; a time that is hardly another one says nothing new.
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
    /// Whether a person or an agent who knows the other one learns nothing from this one.
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
                    ? ", about \(Duration.seconds(left.rounded(.up)).inWords) left (median of last \(expectedFrom))"
                    : ", longer than usual (median of last \(expectedFrom))"
            }
            return text
        }
    }
}
