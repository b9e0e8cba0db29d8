public import Results
public import Foundation
import Pipeline

/// Something that a person or a program is told about, as JSON.
public struct NotifyEvent: Sendable, Codable, Equatable {
    /// What happened; an option chooses by these words.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// A run of a branch has its verdict.
        case branch
        /// A run of a change has its verdict.
        case change
        /// A workflow fails on a branch on which it passed, or where nothing was known of it.
        case red
        /// A workflow passes on a branch on which it failed.
        case green
        /// A release has ended.
        case release
        /// A person is asked.
        case approval
    }

    public var event: Kind
    public var repository: String
    public var workflow: String
    public var run: RunID
    /// The branch that was tested, or that the change wants into.
    public var branch: String?
    public var change: String?
    public var commit: String
    /// Nil while a person is asked before the first step.
    public var verdict: Verdict?
    public var reason: String
    /// Wall-clock seconds that the run took.
    public var seconds: Double?
    /// The step that waits for a person.
    public var step: String?
    /// The command to type next.
    public var command: String
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

    /// What an ended run is news of.
    ///
    /// - Parameter before: The verdict of the same workflow on the same branch before it.
    package static func all(of run: IndexedRun, before: Verdict?) -> [NotifyEvent] {
        let summary = run.summary
        guard let verdict = summary.verdict, run.request.fix == nil, !run.request.isPartial else { return [] }
        let at = summary.endedAt ?? summary.createdAt
        if run.request.runsAtMostOnce { return [NotifyEvent(.release, run, at: at)] }
        // Of its own accord the daemon repeats what is known; only what tests a branch for the first time is news.
        guard [nil, .warmUp].contains(run.request.background), summary.event != .manual,
            ![.superseded, .cancelled, .notApplicable].contains(verdict)
        else { return [] }
        if summary.change != nil { return [NotifyEvent(.change, run, at: at)] }
        guard summary.branch != nil else { return [] }
        var events = [NotifyEvent(.branch, run, at: at)]
        if verdict == .failed, before != .failed { events.append(NotifyEvent(.red, run, at: at)) }
        if [.passed, .flaky].contains(verdict), before == .failed { events.append(NotifyEvent(.green, run, at: at)) }
        return events
    }

    /// A question to a person.
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
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
