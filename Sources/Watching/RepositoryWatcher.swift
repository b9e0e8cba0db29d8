import DaemonLog
import Control
import RefHints
import Workspaces
import Results
package import Store
import Engine
public import Foundation
import Git
package import Logging
import Pipeline
import Synchronization
import WorkflowPrograms

/// How a repository is watched.
public struct WatchOptions: Sendable {
    /// The time between two observations if nothing wakes the watcher. Nil: half a minute; three minutes if file events
    /// are complete, since polling is then only a safety net.
    public var interval: Duration?
    /// Globs over names of branches that are changes.
    public var changePatterns: [String] = []
    /// The target of changes; nil means the repository's default branch.
    public var target: String?
    /// At the first observation, changes and commits since then are treated as new.
    public var since: Date?
    /// How long a fetch may take.
    public var fetchDeadline: Duration = .seconds(300)

    public init() {}
}

/// A repository to watch, with options.
public struct WatchRequest: Sendable {
    /// A path or URL.
    public var location: String
    /// The wanted name, used if the repository is new and the name is free.
    public var name: String?
    /// How to watch it.
    public var options: WatchOptions

    public init(location: String, name: String?, options: WatchOptions) {
        (self.location, self.name, self.options) = (location, name, options)
    }
}

/// Observes one repository: when the kernel reports moved refs, when it is woken, and periodically.
package actor RepositoryWatcher {
    package nonisolated let repository: WatchedRepository
    private let host: any WatchHost
    private let index: Store.Index
    private let trust: TrustPolicy
    private let options: WatchOptions
    private var rules: ChangeRefs
    private let log: Logger
    private let wakes: AsyncStream<Void>
    private let wake: AsyncStream<Void>.Continuation
    /// The target branch of its changes.
    package let targets: TargetWatch
    private var saidNoWorkflows = false
    private var failures = 0
    /// Whether the last observation failed because of this machine, which may change at any moment.
    package private(set) var failedForWantOfSomething = false
    /// The scheduled workflows of the default branch.
    private var schedules: [(declaration: WorkflowDeclaration, trigger: Trigger, cron: CronSchedule)] = []
    /// The tree of `workflows/` from which ``schedules`` was read.
    private var scheduledTree: OID?
    /// The stamp of the refs when the last observation was completely recorded.
    private var settled: RefStamp?
    /// Whether the kernel reports every moved ref.
    private var hasEvents = false
    /// The number of observations that were started, and tasks that wait for one with this number or a later one.
    private var looksBegun = 0
    private nonisolated let lookWaiters = Mutex<[Int: (look: Int, continuation: CheckedContinuation<Bool, Never>)]>([:])
    private var nextLookWaiter = 0

    /// - Throws: ``RequestError`` if a pattern of `options` is invalid.
    package init(
        _ repository: WatchedRepository, host: any WatchHost, index: Store.Index, trust: TrustPolicy,
        options: WatchOptions, log: Logger
    ) throws {
        self.repository = repository
        self.host = host
        self.index = index
        self.trust = trust
        self.options = options
        self.log = log
        rules = try ChangeRefs(branchPatterns: options.changePatterns)
        targets = TargetWatch(repository, index: index, named: options.target, log: log)
        (wakes, wake) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The rules by which its runs are judged.
    ///
    /// They lack the remembered target branch, which ``KnownRepositories/rules(for:)`` adds.
    var trustRules: TrustRules {
        TrustRules(policy: trust, changeRefs: rules, target: TargetRule(named: options.target))
    }

    /// Requests an observation as soon as possible.
    package nonisolated func wakeUp() { wake.yield() }

    /// The same, even if no ref moved: something else that the decision depends on changed.
    package func lookAnew() {
        settled = nil
        wake.yield()
    }

    /// Observes until the task is cancelled. After a failure it tries again with growing pauses.
    package func run() async {
        await withDiscardingTaskGroup { group in
            if !repository.isRemote {
                group.addTask { [self] in await listen() }
            }
            group.addTask { [self] in await tick() }
            for await _ in wakes {
                if Task.isCancelled { break }
                looksBegun += 1
                endLook(looksBegun, succeeded: await lookAndReport())
                group.addTask { [self] in await flushLooks() }
            }
            group.cancelAll()
        }
        endLook(.max, succeeded: false)
    }

    /// Observes, and returns when an observation that started after this call has ended; true if it succeeded.
    ///
    /// All callers during one observation wait for the same next one.
    package func lookNow() async -> Bool {
        nextLookWaiter += 1
        let (number, wanted) = (nextLookWaiter, looksBegun + 1)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // Checked under the lock: a later cancellation finds the waiter.
                let isWaiting = lookWaiters.withLock { waiters in
                    guard !Task.isCancelled else { return false }
                    waiters[number] = (wanted, continuation)
                    return true
                }
                if isWaiting { wake.yield() } else { continuation.resume(returning: false) }
            }
        } onCancel: {
            lookWaiters.withLock { $0.removeValue(forKey: number) }?.continuation.resume(returning: false)
        }
    }

    private func endLook(_ look: Int, succeeded: Bool) {
        let ended = lookWaiters.withLock { waiters in
            let ended = waiters.filter { $0.value.look <= look }
            for number in ended.keys { waiters[number] = nil }
            return ended.values.map(\.continuation)
        }
        for continuation in ended { continuation.resume(returning: succeeded) }
    }

    /// Flushes accepted runs to disk even if no run starts. A run that starts does this itself, and must not wait for
    /// the disk before that.
    private func flushLooks() async {
        do {
            try await Task.sleep(for: .milliseconds(20))
            try await index.flushLooks()
        } catch is CancellationError {
        } catch {
            log.warning(
                "\(repository.name): accepted runs may not be recorded on disk yet: \(error)",
                metadata: .code(.notDurable, repository: repository.name))
        }
    }

    private func lookAndReport() async -> Bool {
        do {
            try await look()
            if failures > 0 {
                log.notice(
                    "\(repository.name) can be read again",
                    metadata: .code(.repositoryReadable, repository: repository.name))
            }
            (failures, failedForWantOfSomething) = (0, false)
            return true
        } catch is CancellationError {
            return false
        } catch {
            // An error of the index or the disk, which `Health` handles; the repository is not to blame.
            failedForWantOfSomething = error is ArchiveError || DiskErrors.isFull(error)
            failures += 1
            // The first failure and then each tenth: a repository that is unavailable for a night must not fill the
            // log.
            if failures == 1 || failures % 10 == 0 {
                log.error(
                    "\(repository.name) can't be read (\(failures) times in a row): \(error)",
                    metadata: .code(.repositoryUnreadable, repository: repository.name))
            }
            return false
        }
    }

    /// Waits for the next periodic observation, with jitter so that many daemons don't fetch at once, and longer after
    /// failures.
    private func tick() async {
        while !Task.isCancelled {
            wake.yield()
            let interval = interval.inSeconds
            let seconds = interval * Double(1 << min(failures, 5)) * Double.random(in: 0.9...1.1)
            do { try await Task.sleep(for: .seconds(min(seconds, max(600, interval)))) } catch { return }
        }
    }

    private var interval: Duration { options.interval ?? (hasEvents ? .seconds(180) : .seconds(30)) }

    private func listen() async {
        var isSaid = false
        while !Task.isCancelled {
            do {
                let hints = try await FileEvents.refChanges(inGitDirectories: [repository.gitDirectory])
                hasEvents = FileEventReach.isWhole(at: repository.gitDirectory)
                for await hint in hints {
                    if let limit = hint.limit {
                        hasEvents = false
                        log.warning(
                            "\(repository.name): \(limit)", metadata: .code(.onlyPolled, repository: repository.name))
                    }
                    isSaid = false
                    wake.yield()
                }
                hasEvents = false
                return
            } catch {
                hasEvents = false
                if !isSaid {
                    log.warning(
                        "\(repository.name) is only polled, every \(interval.inWords): \(error)",
                        metadata: .code(.onlyPolled, repository: repository.name))
                }
                isSaid = true
                // What the kernel refuses now (descriptors, watches) it may grant when other processes have ended.
                do { try await Task.sleep(for: .seconds(60)) } catch { return }
            }
        }
    }

    /// One observation: fetch (a remote), compare the refs with the last observation, decide, record.
    ///
    /// - Returns: The runs that it started.
    @discardableResult
    package func look() async throws -> [QueuedRun] {
        if repository.isRemote { try await Mirror(repository, deadline: options.fetchDeadline).fetch() }
        let seen = try await RefScan(at: repository.gitDirectory, since: settled)
        guard let snapshot = seen.snapshot else { return [] }
        settled = nil
        host.noteActivity()
        let started: [QueuedRun]
        try await number(snapshot)
        var trust = trustRules
        trust.target = try await targets.look(snapshot, rules)
        let rules = rules
        if let news = try await index.news(
            of: repository.name, refs: snapshot.refs, about: { rules.changes(in: $0) })
        {
            let (news, forge) = try await withForge(news, snapshot)
            let isNew = !news.moves.isEmpty || !forge.undecided.isEmpty
            if !isNew && scheduledTree != nil {
                settled = seen.stamp
                return []
            }
            started = isNew ? try await decide(news, forge, snapshot, trust) : []
        } else {
            started = try await baseline(snapshot, trust)
        }
        if await readSchedules(snapshot, trust.target) { settled = seen.stamp }
        return started
    }

    /// Decides which changes have only their number as a name, when changes first exist.
    private func number(_ snapshot: RefSnapshot) async throws {
        guard rules.numbered == nil else { return }
        rules.numbered = try await index.numberedRefs(of: repository.name)
        guard rules.numbered == nil, let numbered = rules.numbering(by: snapshot.refs) else { return }
        try await index.rememberNumberedRefs(numbered, of: repository.name)
        rules.numbered = numbered
    }

    /// The first observation starts nothing, except for changes newer than `since`.
    private func baseline(_ snapshot: RefSnapshot, _ trust: TrustRules) async throws -> [QueuedRun] {
        let (directory, rules, since) = (repository.gitDirectory, rules, options.since)
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
        let (joined, forge) = try await withForge(news, snapshot)
        return try await decide(joined, forge, snapshot, trust)
    }

    /// What a connected forge says about the changes that a look concerns; changes of which only that is new are added.
    private func withForge(_ news: RefNews, _ snapshot: RefSnapshot) async throws -> (RefNews, ChangeNews) {
        var heads: [String: String] = [:]
        for move in news.moves {
            guard case .change(let name) = rules.kind(of: move.name), let head = move.new else { continue }
            heads[name] = head.hex
        }
        if !heads.isEmpty { await host.learnChanges(heads, of: repository.name) }
        var forge = ChangeNews()
        var known = news.known
        for record in try await index.undecidedForgeChanges(of: repository.name) where heads[record.name] == nil {
            let refs = rules.meanings(of: record.name).map(\.ref).filter { snapshot.refs[$0] != nil }
            // What has no ref here can't be tested, and may have one at the next look.
            guard let ref = refs.first, refs.count == 1 else { continue }
            forge.undecided.append((ref, record))
            if known.contains(where: { $0.name == record.name }) { continue }
            if let change = try await index.change(record.name, of: repository.name) { known.append(change) }
        }
        let names = Set(known.map(\.name)).union(heads.keys).union(forge.undecided.map(\.record.name))
        for record in try await index.forgeChanges(of: repository.name, named: Array(names)) {
            forge.facts[record.name] = record.facts
        }
        // What is decided by is what is noted as decided, whatever comes meanwhile.
        for (_, record) in forge.undecided { forge.facts[record.name] = record.facts }
        return (RefNews(moves: news.moves, known: known), forge)
    }

    /// Reads ``schedules`` from the default branch. Compiling also warms the cache for the first change.
    ///
    /// - Returns: Whether the same refs would give the same schedules; if not, the next observation reads them again.
    private func readSchedules(_ snapshot: RefSnapshot, _ target: TargetRule) async -> Bool {
        do {
            let found = try await withRepository(at: repository.gitDirectory) { repository -> (tip: OID, tree: OID?)? in
                guard let branch = target.branch(in: snapshot.refs),
                    let tip = snapshot.refs["refs/heads/\(branch.name)"]
                else { return nil }
                return (tip, try repository.treeID(of: tip, path: "workflows"))
            }
            guard let (tip, tree) = found, let tree, tree != scheduledTree else { return true }
            scheduledTree = tree
            let program = try await CommitWorkflows.program(at: tip, tree: tree, repository, host.programs())
            schedules = program.description.workflows.flatMap { declaration in
                declaration.triggers.compactMap { trigger in
                    guard let text = trigger.cron, let cron = try? CronSchedule(text) else { return nil }
                    return (declaration, trigger, cron)
                }
            }
            return true
        } catch {
            // The observation itself reports errors of the definition; then nothing is scheduled.
            schedules = []
            return error is DefinitionError || error is EarlyVerdict
        }
    }

    /// Starts the runs that are due in the minute that begins at `minute`, in seconds since 1970.
    package func startScheduled(at minute: Int) async {
        for (declaration, trigger, cron) in schedules where cron.matches(secondsSince1970: minute) {
            do {
                let snapshot = try await withRepository(at: repository.gitDirectory) { try $0.snapshot() }
                let due = snapshot.refs.entries(under: "refs/heads/").filter { ref in
                    if case .branch(let name) = rules.kind(of: ref.key) { trigger.matches(branch: name) } else { false }
                }
                for (ref, commit) in due {
                    try await host.accept(
                        RunRequest(
                            repository: repository.name, workflow: declaration.name, event: .schedule, ref: ref,
                            branch: String(ref.dropFirst("refs/heads/".count)), head: commit.hex,
                            definitionCommit: commit.hex, nonce: "scheduled for \(minute)", subject: ref,
                            concurrency: declaration.concurrency ?? .latestOnly,
                            runsAtMostOnce: declaration.runsAtMostOnce))
                }
            } catch {
                log.error(
                    "\(repository.name): \"\(declaration.name)\" could not be started on schedule: \(error)",
                    metadata: .code(.scheduleFailed, repository: repository.name))
            }
        }
    }

    private func decide(
        _ news: RefNews, _ forge: ChangeNews, _ snapshot: RefSnapshot, _ trust: TrustRules
    ) async throws -> [QueuedRun] {
        await host.prepareForRuns()
        let programs = try? await host.programs()
        let file = repository.knownCommits
        let (gathered, kept) = try await withRepository(at: repository.gitDirectory) { repository in
            let observation = try RefObservation.gather(
                repository, snapshot: snapshot, refChanges: news.moves, rules: trust, forge: forge, keeping: file)
            return (observation, programs.map { Self.kept(observation, $0) } ?? [:])
        }
        let observation = try await withQueueLandings(gathered.recognised(in: repository))
        say(observation.unreadable)
        let definitions = try await definitions(observation, kept)
        let name = repository.name
        let refreshes = host.makesSnapshots
        @Sendable func decision(_ commits: CommitFacts) -> Decision {
            Decision.make(
                repository: name, observation: observation, known: news.known, refreshes: refreshes,
                definition: { commit in definitions[commit] ?? .none }, commits: commits)
        }
        let made: Decision
        if definitions.values.contains(where: \.asksAboutCommits) {
            made = try await withRepository(at: repository.gitDirectory) { decision(CommitFacts(in: $0)) }
        } else {
            made = decision(.unknown)
        }
        let outcome = try await index.recordLook(
            repository: name, moved: observation.moved, requests: made.requests, changes: made.changes,
            decided: forge.decided(in: observation), heldBack: made.heldBack)
        await host.carryOut(outcome.superseded, outcome.toCancel)
        for run in outcome.queued {
            log.info(
                "\(name): run \(run.id) \(run.request.workflow), \(run.request.subjectInWords)",
                metadata: .code(.runQueued, run: run.id, repository: name))
        }
        return outcome.queued
    }

    /// Replaces the recognised landings of changes by the landings that the merge queues recorded.
    private func withQueueLandings(_ observation: RefObservation) async throws -> RefObservation {
        var observation = observation
        for index in observation.branches.indices {
            let branch = observation.branches[index]
            guard let old = branch.old else { continue }
            let known = try await host.queueLandings(of: repository.name, branch: branch.name)
            guard !known.isEmpty else { continue }
            let new = branch.new
            let landed = try await withRepository(at: repository.gitDirectory) { repository in
                try known.filter { landing in
                    try repository.contains(landing.commit) && repository.isAncestor(landing.commit, of: new)
                        && !repository.isAncestor(landing.commit, of: old)
                }
            }
            observation.branches[index].landings.removeAll { one in landed.contains { $0.change == one.change } }
            observation.branches[index].landings += landed
        }
        return observation
    }

    /// One line for each unreadable ref, up to a number that a log can take.
    private func say(_ unreadable: [RefObservation.UnreadableRef]) {
        for one in unreadable.prefix(20) {
            log.warning(
                "\(repository.name): \(one.ref) (\(one.id.short)) can't be read: \(one.reason)",
                metadata: .code(.refUnreadable, repository: repository.name))
        }
        if unreadable.count > 20 {
            log.warning(
                "\(repository.name): \(unreadable.count - 20) more refs can't be read",
                metadata: .code(.refUnreadable, repository: repository.name))
        }
    }

    /// The cached programs of the needed workflows, by their trees.
    private static func kept(_ observation: RefObservation, _ programs: ProgramCache) -> [OID: Decision.Definition] {
        var kept: [OID: Decision.Definition] = [:]
        for tree in Set(observation.definitions.values) {
            // An error is reported when the program is compiled.
            guard let program = try? programs.program(keptFor: tree.hex) else { continue }
            kept[tree] = .workflows(program.description.workflows)
        }
        return kept
    }

    /// The workflows at each commit that may define a run.
    ///
    /// - Parameter kept: The programs that are cached already.
    private func definitions(
        _ observation: RefObservation, _ kept: [OID: Decision.Definition]
    ) async throws -> [OID: Decision.Definition] {
        var byTree = kept
        for tree in Set(observation.definitions.values) where byTree[tree] == nil {
            do {
                let programs = try await host.programs()
                let sources = try await CommitWorkflows.sources(tree: tree, gitDirectory: repository.gitDirectory)
                let program = try await programs.program(for: sources)
                byTree[tree] = .workflows(program.description.workflows)
            } catch let error as DefinitionError {
                log.error(
                    "\(repository.name): workflows/ can't be used: \(error)",
                    metadata: .code(.definitionUnusable, repository: repository.name))
                byTree[tree] = error.code == .noWorkflows ? Decision.Definition.none : .broken
            }
        }
        if observation.definitions.isEmpty && !(observation.changes.isEmpty && observation.branches.isEmpty)
            && !saidNoWorkflows
        {
            saidNoWorkflows = true
            log.warning(
                "\(repository.name) has no workflows/ on the branches that moved, so nothing is tested: run `pipectl init` in a clone, commit and push",
                metadata: .code(.noWorkflows, repository: repository.name)
            )
        }
        return observation.definitions.compactMapValues { byTree[$0] }
    }
}
