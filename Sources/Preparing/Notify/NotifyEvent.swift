public import Results
public import Foundation
import Pipeline

/// An event that a person or a program is notified of, as JSON.
public struct NotifyEvent: Sendable, Codable, Equatable {
    /// The kind of event; the setting `notify.on` selects by these words.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A run of a branch has its verdict.
        case branch
        /// A run of a change has its verdict.
        case change
        /// A workflow fails on a branch on which it passed, or had no earlier verdict.
        case red
        /// A workflow passes on a branch on which it failed.
        case green
        /// A release has ended.
        case release
        /// A run or step needs approval.
        case approval
    }

    /// The kind of event.
    public var event: Kind
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The run's number.
    public var run: RunID
    /// The tested branch, or the target of the change.
    public var branch: String?
    /// The change's name; nil for others.
    public var change: String?
    /// The pushed commit.
    public var commit: String
    /// Nil if the run needs approval before its first step.
    public var verdict: Verdict?
    /// The reason for the verdict, or the question; it may quote untrusted text.
    public var reason: String
    /// Seconds of wall-clock time that the run took.
    public var seconds: Double?
    /// The step that waits for approval.
    public var step: String?
    /// The command to run next.
    public var command: String
    /// When it happened.
    public var at: Date

    package init(_ kind: Kind, _ run: IndexedRun, at: Date) {
        let summary = run.summary
        event = kind
        (repository, workflow, self.run) = (summary.repository, summary.workflow, run.id)
        (branch, change, commit) = (summary.branch, summary.change, summary.head)
        (verdict, reason, seconds) = (summary.verdict, summary.reason ?? "", summary.duration)
        command = "pipectl show \(run.id)"
        self.at = at
    }

    /// The events of an ended run.
    ///
    /// - Parameter before: The earlier verdict of the same workflow on the same branch.
    package static func all(of run: IndexedRun, before: Verdict?) -> [NotifyEvent] {
        let summary = run.summary
        guard let verdict = summary.verdict, !run.request.isAside, !run.request.isPartial else { return [] }
        let at = summary.endedAt ?? summary.createdAt
        if run.request.runsAtMostOnce { return [NotifyEvent(.release, run, at: at)] }
        // Background runs repeat what is known. Only one that tests a branch for the first time is news.
        guard [nil, .warmUp].contains(run.request.background), run.request.options.machine == nil,
            summary.event != .manual,
            ![.superseded, .cancelled, .notApplicable].contains(verdict)
        else { return [] }
        if summary.change != nil { return [NotifyEvent(.change, run, at: at)] }
        guard summary.branch != nil else { return [] }
        var events = [NotifyEvent(.branch, run, at: at)]
        if verdict == .failed, before != .failed { events.append(NotifyEvent(.red, run, at: at)) }
        if [.passed, .flaky].contains(verdict), before == .failed { events.append(NotifyEvent(.green, run, at: at)) }
        return events
    }

    /// The event for a question.
    package static func question(_ run: IndexedRun, step: String?, why: String, at: Date) -> NotifyEvent {
        var event = NotifyEvent(.approval, run, at: at)
        (event.reason, event.step) = (why, step)
        event.command = Approval.command(run.id, step: step)
        return event
    }

    /// One line of JSON.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601Seconds
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
