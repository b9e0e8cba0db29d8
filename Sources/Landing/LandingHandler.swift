import DaemonLog
package import Watching
package import Running
package import Control
import Foundation
import Git
package import Logging
import MergeQueue
import Pipeline
import Results
import Store

/// Answers the requests about merge queues, from commands and from comments at a forge.
package struct LandingHandler: Sendable {
    package let queues: MergeQueues
    let repositories: KnownRepositories
    package let declarations: LandingDeclarations
    /// Notified when a queue has changed.
    let news: ChangeNotifier
    let log: Logger

    package init(
        queues: MergeQueues, repositories: KnownRepositories, declarations: LandingDeclarations, news: ChangeNotifier,
        log: Logger
    ) {
        self.queues = queues
        self.repositories = repositories
        self.declarations = declarations
        self.news = news
        self.log = log
    }

    /// The reply to a request about merge queues; nil for other requests.
    ///
    /// - Parameter person: Who asks, in words.
    package func reply(to request: DaemonRequest, by person: String) async throws -> DaemonReply? {
        switch request {
        case .land(let wanted): .completed(try await land(wanted, by: wanted.askedBy ?? person))
        case .cancelLanding(let wanted): .completed(try await cancel(wanted))
        case .freezeQueue(let wanted): .completed(try await freeze(wanted))
        case .mergeQueues(let text): .mergeQueues(try await status(of: text))
        default: nil
        }
    }

    // MARK: Into the queue, and out of it

    /// Puts a change into the merge queue of its target. If it is queued already, only its priority changes.
    ///
    /// - Parameter label: The label that asks for it; nil for a person.
    /// - Throws: ``RequestError``: `.unknownChange`, `.unknownTarget`, or `.notLandable` with the reason.
    package func land(_ request: LandRequest, by person: String, label: String? = nil) async throws -> CompletedAction {
        let repository = try await repositories.repository(named: repositories.name(of: request.repository))
        let wanted = try await self.change(request.change, of: repository)
        let (name, branch) = (wanted.name, wanted.target)
        if let head = request.head, head != wanted.head {
            throw RequestError(
                .notLandable,
                "change \(name) is at \(wanted.head.prefix(10)) and not at \(head.prefix(10)) any more; look at the new commit"
            )
        }
        if let record = try await queues.index.change(name, of: repository.name), record.head == wanted.head {
            switch record.state {
            case .landed: throw RequestError(.notLandable, "change \(name) has landed in \(record.target) already")
            case .closed: throw RequestError(.notLandable, "change \(name) is closed")
            case .open, .conflict, .stale: break
            }
        }
        guard let tip = OID(hex: wanted.targetCommit),
            let found = try await declarations.find(for: branch, at: tip, in: repository)
        else {
            throw RequestError(
                .notLandable,
                "\(branch) of \(repository.name) declares no landing. Add `static let landing = Landing(into: \"\(branch)\", "
                    + "requires: [test])` to its WorkflowSet, and let that land first")
        }
        if found.rules.mover == .forge, MergeOrder.number(of: name) == nil {
            throw RequestError(
                .notLandable,
                "change \(name) has no number at a forge, and only the forge merges into \(branch); open a pull request"
            )
        }
        let wish = QueueWish(
            change: name, head: wanted.head, title: String(wanted.title.prefix(500)),
            priority: min(max(request.priority, -1_000), 1_000), askedBy: person,
            askedAt: Date().millisecondsSince1970, label: label)
        let change = try await queues.apply(
            .enqueue(wish), of: repository.name, branch: branch,
            new: QueueState(target: wanted.targetCommit, rules: found.rules))
        log.notice(
            "\(repository.name): change \(name) is queued for \(branch), by \(person)",
            metadata: .code(.changeQueued, repository: repository.name, ["change": name]))
        news.tellAll()
        let before = change?.after.entries.firstIndex { $0.change == name } ?? 0
        return .queuedLanding(change: name, branch: branch, before: before)
    }

    /// The change that a person named, with its head and the tip of its target.
    private func change(_ text: String, of repository: WatchedRepository) async throws -> Change {
        let rules = try await repositories.rules(for: repository)
        let (change, tips) = try await withRepository(at: repository.gitDirectory) { git in
            let request = try RunRequest.byHand(.change(text), workflow: "", in: git, repository, rules)
            return (request.change, try git.snapshot(under: "refs/heads/").refs)
        }
        guard var change else { throw RequestError(.unknownChange, "there is no change \"\(text)\"") }
        // The target that was observed for the change takes precedence over the default, which is the main branch.
        if let target = try await queues.index.change(change.name, of: repository.name)?.target,
            let tip = tips["refs/heads/\(target)"]
        {
            (change.target, change.targetCommit) = (target, tip.hex)
        }
        return change
    }

    /// Removes a change from its merge queue.
    ///
    /// - Throws: ``RequestError`` with `.notQueued` if it is in no queue, or if it is landing now.
    package func cancel(_ request: CancelLandingRequest) async throws -> CompletedAction {
        let repository = try await repositories.name(of: request.repository)
        for queue in try await queues.all(of: repository) {
            guard let entry = queue.state.entry(of: Self.plain(request.change)) ?? queue.state.entry(of: request.change)
            else { continue }
            let change = try await queues.apply(
                .withdraw(change: entry.change), of: repository, branch: queue.branch)
            guard change?.departures.isEmpty == false else {
                throw RequestError(
                    .notQueued, "change \(entry.change) lands in \(queue.branch) at this moment; it can't be stopped")
            }
            log.notice(
                "\(repository): change \(entry.change) is taken out of the merge queue of \(queue.branch)",
                metadata: .code(.changeLeftQueue, repository: repository, ["change": entry.change]))
            news.tellAll()
            return .cancelledLanding(change: entry.change, branch: queue.branch)
        }
        throw RequestError(
            .notQueued, "change \(request.change) is in no merge queue of \(repository); `pipectl queue` lists them")
    }

    /// Removes a change that is in line because of a label that is gone.
    func takeOut(_ change: String, unlabelledIn queue: MergeQueues.Queue) async throws {
        let result = try await queues.apply(
            .unlabelled(change: change), of: queue.repository, branch: queue.branch)
        guard result?.departures.isEmpty == false else { return }
        log.notice(
            "\(queue.repository): change \(change) lost its label and is taken out of the merge queue of \(queue.branch)",
            metadata: .code(.changeLeftQueue, repository: queue.repository, ["change": change]))
        news.tellAll()
    }

    /// Removes the `#` of `#7`.
    private static func plain(_ name: String) -> String { name.hasPrefix("#") ? String(name.dropFirst()) : name }

    /// Freezes merge queues, or resumes them.
    package func freeze(_ request: FreezeRequest) async throws -> CompletedAction {
        let repository = try await repositories.name(of: request.repository)
        let chosen = try await queues.all(of: repository).map(\.branch).filter {
            request.branch == nil || $0 == request.branch
        }
        guard !chosen.isEmpty else {
            throw RequestError(
                .usage,
                "\(request.branch ?? repository) has no merge queue yet; it has one once a change was queued with `pipectl land`"
            )
        }
        for branch in chosen {
            let event = request.reason.map { QueueEvent.freeze(String($0.prefix(500))) } ?? .resume
            try await queues.apply(event, of: repository, branch: branch)
        }
        news.tellAll()
        return .frozeQueue(branches: chosen, isFrozen: request.reason != nil)
    }

    // MARK: What people see

    /// The state of the merge queues.
    ///
    /// - Parameter text: A repository by its name, path or URL; nil for all repositories.
    func status(of text: String?) async throws -> [MergeQueueStatus] {
        let name: String? = if let text { try await repositories.name(of: text) } else { nil }
        var all: [MergeQueueStatus] = []
        for queue in try await queues.all(of: name) { all.append(try await status(queue)) }
        return all
    }

    private func status(_ queue: MergeQueues.Queue) async throws -> MergeQueueStatus {
        let estimate = try await LandingEstimate(queue, index: queues.index)
        var entries: [MergeQueueStatus.Entry] = []
        for (index, position) in queue.state.positions.enumerated() {
            let entry = position.entry
            var shown = MergeQueueStatus.Entry(
                position: index + 1, change: entry.change, title: entry.title, head: entry.head,
                priority: entry.priority,
                askedBy: entry.askedBy, askedAt: Date(millisecondsSince1970: entry.askedAt),
                state: .init(position.status))
            (shown.onTopOf, shown.with, shown.runs) = (position.onTopOf, position.with, position.runs)
            shown.conflicts = try await queues.index.earlyConflicts(of: entry.change, in: queue.repository)
                .filter { $0.head == entry.head }.map(\.other)
            if case .suspected(let failure) = position.status { shown.reason = failure.inWords }
            shown.estimate = queue.state.frozen == nil ? estimate.landing(of: position, at: Date()) : nil
            entries.append(shown)
        }
        let ended = try await queues.index.landings(of: queue.repository, branch: queue.branch, limit: 20).map {
            MergeQueueStatus.Ended(
                change: $0.change, head: $0.head, outcome: $0.outcome.rawValue, reason: $0.reason, commit: $0.commit,
                runs: $0.runs.values.sorted(), endedAt: $0.endedAt, isUntested: $0.isUntested)
        }
        return MergeQueueStatus(
            repository: queue.repository, branch: queue.branch, target: queue.state.target,
            frozen: queue.state.frozen, isDeclared: queue.state.rules != nil, entries: entries, ended: ended)
    }
}

extension MergeQueueStatus.Entry.State {
    fileprivate init(_ status: QueuePosition.Status) {
        self =
            switch status {
            case .waiting: .waiting
            case .testing: .testing
            case .passed: .passed
            case .suspected: .suspected
            case .landing: .landing
            }
    }
}

/// Estimates when changes will have landed, from the durations of earlier runs.
struct LandingEstimate: Sendable {
    /// The expected duration of one round of tests: the median of the slowest required workflow. Nil if no run has
    /// passed yet.
    var round: Duration?
    /// The start times of the running runs.
    var started: [RunID: Date]

    /// Maximum number of passed runs of each workflow from which the median is taken.
    private static let looked = 20

    init(_ queue: MergeQueues.Queue, index: Store.Index) async throws {
        (round, started) = (nil, [:])
        for workflow in queue.state.rules?.workflows ?? [] {
            let runs = try await index.runs(
                RunFilter(
                    repository: queue.repository, workflow: workflow, states: [.ended], verdicts: [.passed],
                    limit: Self.looked))
            let durations = runs.compactMap(\.duration).sorted()
            guard !durations.isEmpty else { continue }
            round = max(round ?? .zero, .seconds(durations[durations.count / 2]))
        }
        for run in queue.state.wantedRuns { started[run] = try await index.run(run)?.summary.startedAt }
    }

    init(round: Duration?, started: [RunID: Date] = [:]) {
        (self.round, self.started) = (round, started)
    }

    /// When the change will have landed if nothing fails; nil if no duration is known.
    func landing(of position: QueuePosition, at now: Date) -> Date? {
        guard let round = round.map({ Double($0.components.seconds) + Double($0.components.attoseconds) / 1e18 }) else {
            return nil
        }
        let begun = position.runs.compactMap { started[$0] }.min() ?? now
        let left = max(Double(position.rounds) * round - now.timeIntervalSince(begun), 0)
        return now.addingTimeInterval(position.rounds == 0 ? 0 : left)
    }
}
