import DaemonLog
import Foundation
import Git
import Logging
import Results
import Store

/// Observes the refs of one repository and starts the runs that follow from what is new.
actor RepositoryObserver {
    private let repository: WatchedRepository
    private let host: any WatchHost
    private let index: Store.Index
    private let options: WatchOptions
    private let log: Logger
    /// The target branch of its changes.
    nonisolated let targets: TargetWatch
    private let decisions: DecisionMaker
    private let schedules: ScheduledWorkflows
    /// The rules by which its runs are judged. They lack the remembered target branch, which
    /// ``KnownRepositories/rules(for:)`` adds.
    private(set) var trust: TrustRules
    private var settled = SettledRefs()

    /// - Throws: ``RequestError`` if a pattern of `options` is invalid.
    init(
        _ repository: WatchedRepository, host: any WatchHost, index: Store.Index, trust: TrustPolicy,
        options: WatchOptions, log: Logger
    ) throws {
        self.repository = repository
        self.host = host
        self.index = index
        self.options = options
        self.log = log
        targets = TargetWatch(repository, index: index, named: options.target, log: log)
        decisions = DecisionMaker(repository, host: host, index: index, log: log)
        schedules = ScheduledWorkflows(repository, host: host, log: log)
        self.trust = TrustRules(
            policy: trust, changeRefs: try ChangeRefs(branchPatterns: options.changePatterns),
            target: TargetRule(named: options.target))
    }

    /// Something besides the refs that the decision depends on changed: the next observation decides anew.
    func forget() { settled.forget() }

    /// Starts the runs that are due in the minute that begins at `minute`, in seconds since 1970.
    func startScheduled(at minute: Int) async { await schedules.start(at: minute, trust.changeRefs) }

    /// One observation: fetch (a remote), compare the refs with the last observation, decide, record.
    ///
    /// - Returns: The runs that it started.
    @discardableResult
    func look() async throws -> [QueuedRun] {
        if repository.isRemote { try await Mirror(repository, deadline: options.fetchDeadline).fetch() }
        let seen = try await RefScan(at: repository.gitDirectory, since: settled.stamp)
        guard let snapshot = seen.snapshot else { return [] }
        let round = settled.begin()
        host.noteActivity()
        let started: [QueuedRun]
        try await number(snapshot)
        var trust = trust
        trust.target = try await targets.look(snapshot, trust.changeRefs)
        let rules = trust.changeRefs
        if let news = try await index.news(
            of: repository.name, refs: snapshot.refs, about: { rules.changes(in: $0) })
        {
            let (news, forge) = try await decisions.withForge(news, snapshot, rules)
            let isNew = !news.moves.isEmpty || !forge.undecided.isEmpty
            if !isNew, await schedules.isKnown {
                settled.settle(seen.stamp, round)
                return []
            }
            started = isNew ? try await decisions.decide(news, forge, snapshot, trust) : []
        } else {
            started = try await baseline(snapshot, trust)
        }
        if await schedules.read(snapshot, trust.target) { settled.settle(seen.stamp, round) }
        return started
    }

    /// Decides which changes have only their number as a name, when changes first exist.
    private func number(_ snapshot: RefSnapshot) async throws {
        trust.changeRefs.isAtForge = try await index.isAtForge(repository.name)
        guard trust.changeRefs.numbered == nil else { return }
        trust.changeRefs.numbered = try await index.numberedRefs(of: repository.name)
        guard trust.changeRefs.numbered == nil, let numbered = trust.changeRefs.numbering(by: snapshot.refs) else {
            return
        }
        try await index.rememberNumberedRefs(numbered, of: repository.name)
        trust.changeRefs.numbered = numbered
    }

    /// The first observation starts nothing, except for changes newer than `since`.
    private func baseline(_ snapshot: RefSnapshot, _ trust: TrustRules) async throws -> [QueuedRun] {
        let (directory, rules, since) = (repository.gitDirectory, trust.changeRefs, options.since)
        var older = snapshot.refs
        if let since {
            older = try await withRepository(at: directory) { repository in
                RefTable(
                    snapshot.refs.filter { ref, id in
                        guard case .change = rules.kind(of: ref) else { return true }
                        return ((try? repository.commit(id))?.committer.time ?? .distantPast) < since
                    })
            }
        }
        try await index.recordBaseline(of: repository.name, location: repository.location, refs: older)
        let changes = snapshot.refs.count { if case .change = rules.kind(of: $0.key) { true } else { false } }
        log.notice(
            "\(repository.name): baseline of \(snapshot.refs.count) refs, \(changes) changes; waiting for the next push",
            metadata: .code(.baseline, repository: repository.name)
        )
        if older.count == snapshot.refs.count { return [] }
        let old = RefSnapshot(refs: older, head: snapshot.head)
        let news = RefNews(
            moves: snapshot.changes(since: old), known: try await index.changes(of: repository.name))
        let (joined, forge) = try await decisions.withForge(news, snapshot, rules)
        return try await decisions.decide(joined, forge, snapshot, trust)
    }
}

/// The refs of the last observation that was completely recorded.
struct SettledRefs {
    private(set) var stamp: RefStamp?
    private var round = 0

    /// Starts an observation, and returns what ``settle(_:_:)`` takes.
    mutating func begin() -> Int {
        stamp = nil
        return round
    }

    /// Nothing is new at these refs, unless that was forgotten since the observation began.
    mutating func settle(_ stamp: RefStamp?, _ round: Int) { if round == self.round { self.stamp = stamp } }

    mutating func forget() {
        stamp = nil
        round += 1
    }
}
