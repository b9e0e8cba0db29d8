import Control
import Foundation
import Git
package import LandedChanges
import MergeQueue
import Pipeline
import Results
package import Store

/// The merge queues in the index. Each event is stored in one transaction, together with the new state and the changes
/// that left.
package struct MergeQueues: Sendable {
    let index: Store.Index

    package init(index: Store.Index) { self.index = index }

    /// A queue with its repository and branch.
    struct Queue: Sendable {
        var repository: String
        var branch: String
        var state: QueueState
    }

    func all(of repository: String? = nil) async throws -> [Queue] {
        try await index.mergeQueues(of: repository).map {
            Queue(repository: $0.repository, branch: $0.branch, state: try Self.state($0.state))
        }
    }

    func queue(of repository: String, branch: String) async throws -> QueueState? {
        try await all(of: repository).first { $0.branch == branch }?.state
    }

    /// The effect of an event.
    struct Change: Sendable {
        var before: QueueState
        var after: QueueState
        var departures: [Departure]
    }

    /// Applies an event to a queue and stores the new state with the changes that left.
    ///
    /// - Parameter new: The first state if the queue does not exist yet; nil if the event applies to existing queues
    ///   only.
    /// - Returns: Nil if there is no such queue.
    @discardableResult
    func apply(
        _ event: QueueEvent, of repository: String, branch: String, new: QueueState? = nil, at now: Date = Date()
    ) async throws -> Change? {
        try await index.changeMergeQueue(of: repository, branch: branch) { stored in
            guard let before = try stored.map(Self.state) ?? new else {
                return MergeQueueUpdate<Change?>(state: nil, ended: [], result: nil)
            }
            var after = before
            let departures = after.apply(event)
            let ended = departures.map { LandingRecord($0, method: before.rules?.method, at: now) }
            return MergeQueueUpdate<Change?>(
                state: try ArchiveJSON.compactText(after), ended: ended,
                result: Change(before: before, after: after, departures: departures))
        }
    }

    /// The place of a change in the merge queue of a branch.
    package struct Place: Sendable {
        package var branch: String
        /// From 1 for the one that lands next.
        package var position: Int
        /// How many changes are in the queue.
        package var count: Int
    }

    /// The places of the changes that are in a queue of the repository, by their names.
    package func places(of repository: String) async throws -> [String: Place] {
        var places: [String: Place] = [:]
        for queue in try await all(of: repository) {
            for (index, entry) in queue.state.entries.enumerated() {
                places[entry.change] = Place(
                    branch: queue.branch, position: index + 1, count: queue.state.entries.count)
            }
        }
        return places
    }

    /// What the queue of a branch has landed recently or is about to land, oldest first.
    package func landings(of repository: String, branch: String) async throws -> [LandedChange] {
        let records = try await index.landings(of: repository, branch: branch).reversed()
        var found = records.compactMap { record -> LandedChange? in
            guard record.outcome == .landed else { return nil }
            return LandedChange(change: record.change, head: record.head, commit: record.commit, method: record.method)
        }
        // Between the push and the storing of its result, an observation may see the landed commit.
        if let state = try await queue(of: repository, branch: branch), let intent = state.intent {
            for (id, commit) in zip(intent.entries, intent.commits) {
                guard let entry = state.entry(id) else { continue }
                let landing = LandedChange(
                    change: entry.change, head: entry.head, commit: commit, method: state.rules?.method)
                found += landing.map { [$0] } ?? []
            }
        }
        return found
    }

    private static func state(_ text: String) throws -> QueueState {
        try ArchiveJSON.decode(QueueState.self, from: text)
    }
}

extension LandingRecord {
    init(_ departure: Departure, method: String?, at now: Date) {
        let entry = departure.entry
        self.init(
            change: entry.change, head: entry.head, outcome: .withdrawn, reason: departure.inWords,
            runs: departure.runs, askedBy: entry.askedBy, askedAt: Date(millisecondsSince1970: entry.askedAt),
            endedAt: now)
        switch departure.reason {
        case .landed(let commit, let tip):
            (outcome, self.commit, self.tip, self.method) = (.landed, commit, tip, method)
        case .landedUntested(let commit):
            (outcome, self.commit, tip, self.method, isUntested) = (.landed, commit, commit, method, true)
        case .landedElsewhere(let commit): (outcome, self.commit) = (.landedElsewhere, commit)
        case .failed(.conflict), .failed(.unmergeable): outcome = .conflict
        case .failed(.nothing): outcome = .landedElsewhere
        case .failed(.failed), .failed(.flaky): outcome = .failed
        case .pushed, .closed, .withdrawn: break
        }
    }
}

extension LandedChange {
    /// Nil if one of the texts is not an object id or a method that a queue stores.
    fileprivate init?(change: String, head: String, commit: String?, method: String?) {
        guard let head = OID(hex: head), let commit = commit.flatMap({ OID(hex: $0) }),
            let method = method.flatMap(LandingMethod.init(rawValue:))
        else { return nil }
        let how: How =
            switch method {
            case .squash: .squash
            case .merge: .merge
            case .rebase: .rebase
            }
        self.init(change: change, head: head, commit: commit, how: how)
    }
}

extension Departure {
    /// The reason for leaving, as a sentence that also says what to do next.
    var inWords: String {
        let runs = runs.values.sorted().map { "run \($0)" }.joined(separator: ", ")
        let seen = runs.isEmpty ? "" : " (\(runs); `pipectl report \(self.runs.values.min() ?? 0)` says why)"
        return switch reason {
        case .landed(let commit, _): "landed as \(commit.prefix(10))"
        case .landedUntested(let commit):
            "landed as \(commit.prefix(10)), but untested: the forge merged it on top of something else than it was "
                + "tested with; the next run of the branch tells whether it is good"
        case .landedElsewhere(let commit): "landed by other hands as \(commit.prefix(10))"
        case .failed(.failed): "a required workflow failed on the commit that would land\(seen)"
        case .failed(.flaky): "a required workflow was flaky at each attempt\(seen)"
        case .failed(let failure): failure.inWords
        case .pushed(let head):
            "it was pushed to\(head.isEmpty ? "" : " and is at \(head.prefix(10)) now"); `pipectl land` queues the new commit"
        case .closed: "it was closed"
        case .withdrawn: "it was taken out of the queue"
        }
    }
}

extension QueueFailure {
    /// Why the change can't land, as a sentence.
    var inWords: String {
        switch self {
        case .conflict(let paths):
            let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
            return
                "it conflicts in \(paths.prefix(3).joined(separator: ", "))\(more); merge or rebase it and push again"
        case .nothing: return "the target has all of it already"
        case .failed: return "a required workflow failed"
        case .flaky: return "a required workflow was flaky at each attempt"
        case .unmergeable(let reason): return "it can't be merged: \(reason)"
        }
    }
}

extension Date {
    init(millisecondsSince1970 milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    var millisecondsSince1970: Int { Int((timeIntervalSince1970 * 1_000).rounded()) }
}
