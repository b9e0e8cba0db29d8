import DaemonLog
import Running
import Watching
import Foundation
import Git
import Logging
import MergeQueue
import Pipeline
import Results
import Running
import Store

/// Executes the actions of one branch's merge queue, one after the other.
struct BranchLane: Sendable {
    let repository: WatchedRepository
    let branch: String
    let queues: MergeQueues
    let declarations: LandingDeclarations
    let runs: LandingRuns
    let forge: any MergingForge
    let log: Logger

    /// The result of one step.
    enum Step: Sendable, Equatable {
        /// The state has changed, so there may be more to do.
        case changed
        /// The target was moved.
        case landed
        /// The forge says that it has merged the change.
        case ordered
        /// The push or the order to merge was rejected, for this reason.
        case rejected(String)
        /// It is not known whether the push succeeded, for this reason.
        case unknown(String)
    }

    /// Applies the next event that was observed; if there is none, executes one of the queue's actions.
    ///
    /// - Returns: Nil if there is nothing to do until something changes.
    func step(_ state: QueueState) async throws -> Step? {
        if let event = try await news(state) { return try await apply(event) }
        for action in state.actions {
            switch action {
            case .build(let base, let entries): return try await apply(build(entries, on: base, state))
            case .test(let result):
                if let event = try await test(result, state) { return try await apply(event) }
            case .push(let intent): return try await push(intent)
            case .merge(let intent): return try await merge(intent, state)
            }
        }
        return nil
    }

    /// Stores an event with the new state, then cancels the runs that are no longer needed and updates the refs that
    /// keep the queue's commits.
    @discardableResult
    func apply(_ event: QueueEvent) async throws -> Step {
        guard let change = try await queues.apply(event, of: repository.name, branch: branch) else { return .changed }
        for departure in change.departures {
            let words = "\(repository.name): change \(departure.entry.change) into \(branch): \(departure.inWords)"
            let facts = ["change": departure.entry.change]
            log.notice("\(words)", metadata: .code(.changeLeftQueue, repository: repository.name, facts))
            if case .landedUntested = departure.reason {
                log.warning("\(words)", metadata: .code(.landedUntested, repository: repository.name, facts))
            }
        }
        if let frozen = change.after.frozen, change.before.frozen == nil {
            log.warning(
                "\(repository.name): the merge queue of \(branch) is frozen: \(frozen)",
                metadata: .code(.queueFrozen, repository: repository.name))
        }
        try await runs.end(change.before.wantedRuns.subtracting(change.after.wantedRuns))
        try await pin(change)
        runs.queue.board.news.tellAll()
        return .changed
    }

    /// Keeps the commits of the queue with refs, so that `git gc` does not remove them.
    private func pin(_ change: MergeQueues.Change) async throws {
        func commits(_ state: QueueState) -> Set<String> {
            Set(state.results.filter { $0.status == .built || $0.status == .passed }.map(\.commit))
                .union(state.intent.map { [$0.to] } ?? [])
        }
        let (old, new) = (commits(change.before), commits(change.after))
        guard old != new else { return }
        try await withRepository(at: repository.store) { store in
            for id in new.subtracting(old).compactMap({ OID(hex: $0) }) { try store.keep(id, as: Self.pin(id.hex)) }
            for id in old.subtracting(new) where !id.isEmpty { try store.letGo(of: Self.pin(id)) }
        }
    }

    static let pins = "refs/pipectl/queue"

    private static func pin(_ commit: String) -> String { "\(pins)/\(commit)" }

    // MARK: What happened

    /// The next event that follows from the observed target and changes; nil if they are as the queue knows them.
    private func news(_ state: QueueState) async throws -> QueueEvent? {
        if let event = try await targetNews(state) { return event }
        for entry in state.entries where !state.isLanding(entry.id) {
            guard let record = try await queues.index.change(entry.change, of: repository.name),
                // What was recorded before says nothing about a head that was read since.
                record.updatedAt.millisecondsSince1970 >= entry.askedAt
            else { continue }
            if record.head != entry.head { return .pushed(change: entry.change, head: record.head) }
            switch record.state {
            case .landed: return .landedElsewhere(change: entry.change, commit: record.landedCommit ?? "")
            case .closed: return .closed(change: entry.change)
            case .open, .conflict, .stale: continue
            }
        }
        return nil
    }

    private func targetNews(_ state: QueueState) async throws -> QueueEvent? {
        let ref = "refs/heads/\(branch)"
        guard let tip = try await withRepository(at: repository.gitDirectory, { try $0.ref(ref) }) else {
            return state.frozen == nil ? .freeze("the branch \(branch) is gone") : nil
        }
        let declared = try await declarations.find(for: branch, at: tip, in: repository)?.rules
        if let intent = state.intent, let to = OID(hex: intent.to), tip.hex != intent.from {
            // The landing took place also if others have pushed on top of it since.
            let hasLanded = try await withRepository(at: repository.store) {
                try $0.contains(to) && $0.isAncestor(to, of: tip)
            }
            if hasLanded {
                return .landed(commit: intent.to, try await rules(at: intent.to))
            }
            if intent.isByForge, let event = try await forgeNews(intent, state, tip: tip) { return event }
        }
        return tip.hex != state.target || declared != state.rules ? .targetMoved(to: tip.hex, declared) : nil
    }

    func rules(at commit: String) async throws -> QueueRules? {
        guard let id = OID(hex: commit) else { return nil }
        return try await declarations.find(for: branch, at: id, in: repository)?.rules
    }

    // MARK: What is to be done

    private func found(_ state: QueueState) async throws -> LandingDeclarations.Found {
        guard let target = OID(hex: state.target),
            let found = try await declarations.find(for: branch, at: target, in: repository)
        else { throw LandingObstacle(reason: "\(branch) declares no landing any more") }
        return found
    }

    private func build(_ entries: [QueueEntry], on base: String, _ state: QueueState) async throws -> QueueEvent {
        guard let commit = OID(hex: base) else { throw LandingObstacle(reason: "\(base) is no commit") }
        let builder = StackBuilder(
            store: repository.store, branch: branch, method: try await found(state).landing.method,
            merger: try await ChangeMerger.find())
        return .built(on: base, entries: entries.map(\.id), try await builder.build(entries, on: commit))
    }

    private func test(_ result: StackResult, _ state: QueueState) async throws -> QueueEvent? {
        if let outcome = try await runs.outcome(of: result) { return .tested(commit: result.commit, outcome) }
        guard result.runs.isEmpty else { return nil }
        let entries = result.entries.compactMap(state.entry)
        let started = try await runs.start(result, entries, target: try await base(of: result, state), found(state))
        return .started(commit: result.commit, runs: started)
    }

    /// The commit of the target that a tested commit contains.
    ///
    /// A forge's commit of what landed has the tree that the queue's own commit has, but is no part of what the queue has
    /// built on top of that.
    private func base(of result: StackResult, _ state: QueueState) async throws -> String {
        guard let target = OID(hex: state.target), let commit = OID(hex: result.commit) else { return state.target }
        return try await withRepository(at: repository.store) { store in
            try store.isAncestor(target, of: commit) ? target.hex : store.mergeBase(commit, target)?.hex ?? target.hex
        }
    }

    private func push(_ intent: LandingIntent) async throws -> Step {
        let tree = try await withRepository(at: repository.store) { store in
            try OID(hex: intent.to).map { try store.commit($0).tree.hex }
        }
        guard tree == intent.tree else {
            throw LandingObstacle(reason: "commit \(intent.to) does not have the tree that passed")
        }
        let outcome = try await TargetPush(
            repository: repository, branch: branch, from: intent.from, to: intent.to
        ).push()
        switch outcome {
        case .pushed:
            try await apply(.landed(commit: intent.to, rules(at: intent.to)))
            return .landed
        case .rejected(let reason): return .rejected(await explained(reason))
        case .unknown(let reason): return .unknown(reason)
        }
    }
}
