import DaemonLog
import Watching
import Running
import Preparing
import Workspaces
import StateFiles
import Archive
import Foundation
import Git
import Logging
import Pipeline
import Results
import Store
import TerminalText

/// Decides what follows from the end of a run for fixing another one. It starts from the recorded facts each time, so
/// it may be repeated, and a crash loses nothing.
actor FixCoordinator {
    private let index: Store.Index
    private let store: ArchiveStore
    private let queue: RunQueue
    private let repositories: KnownRepositories
    private let health: Health
    private let log: Logger
    /// Whether work is due; a running call of ``settle()`` does it.
    private var isDue = false
    private var isSettling = false

    init(
        index: Store.Index, store: ArchiveStore, queue: RunQueue, repositories: KnownRepositories, health: Health,
        log: Logger
    ) {
        self.index = index
        self.store = store
        self.queue = queue
        self.repositories = repositories
        self.health = health
        self.log = log
    }

    /// Does everything that is due.
    func settle() async {
        // If a call is running already, it checks again and does the rest.
        isDue = true
        guard !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        while isDue {
            isDue = false
            do {
                for id in try await index.dueFixes() {
                    guard let run = try await index.run(id), run.summary.isArchived else { continue }
                    let failed = run.request.fix?.of ?? id
                    guard await queue.scheduler.isMine(failed) else { continue }
                    try await advance(failed)
                    try await index.fixDone(id)
                }
                health.clearTrouble("a fix can't continue")
            } catch is CancellationError {
                // It stays due for the next process.
                return
            } catch {
                health.noteTrouble("a fix can't continue", error)
            }
        }
    }

    /// Advances the fix of one run, if this process is responsible for the run.
    func advanceIfMine(_ id: RunID) async throws {
        if await queue.scheduler.isMine(id) { try await advance(id) }
    }

    private func advance(_ id: RunID) async throws {
        guard let failed = try await index.run(id), failed.summary.isArchived else { return }
        let report = try await store.report(id)
        let sequence = FixSequence(run: id, parts: try await parts(of: id))
        let last = sequence.parts.last?.role
        var series =
            report.fixes
            ?? FixSeries(
                state: .working, reason: "", wanted: last.map { $0.last - $0.attempt + 1 } ?? 0,
                mayPush: last?.mayPush ?? false)
        let first =
            series.state == .working && series.wanted > 0
            ? FixRole(of: id, attempt: 1, last: series.wanted, mayPush: series.mayPush) : nil
        if first == nil, sequence.parts.isEmpty { return }
        var next = sequence.next(first: first)
        if case .end = next {
        } else if next != .wait, let why = try await whyOutdated(failed) {
            next = .end(.stopped, reason: why)
        }
        switch next {
        case .wait: break
        case .make(let role): _ = try await queue.begin(.fixing(failed.request, role))
        case .check(let role, let commit): _ = try await queue.begin(.checking(failed.request, role, commit: commit))
        case .end(let state, let reason):
            (series.state, series.reason) = (state, reason)
            if state == .offered { try await offer(&series, sequence, failed) }
        }
        let now = FixSequence(run: id, parts: try await parts(of: id))
        series.attempts = now.attempts
        if case .end = next {
        } else if let role = now.parts.last?.role {
            let what = role.isMaking ? "made" : "checked"
            series.state = .working
            series.reason = "attempt \(role.attempt) of \(role.last) is being \(what)"
        }
        guard series != report.fixes else { return }
        try await store.amend(id, fixes: series, in: index)
        log.notice(
            "run \(id): fix \(series.state.title): \(TerminalText.name(series.reason, limit: 500))",
            metadata: .code(.fixState, run: id, ["state": series.state.rawValue]))
        queue.board.wake(id)
    }

    private func parts(of id: RunID) async throws -> [FixSequence.Part] {
        try await FixSequence.parts(of: id, index, store)
    }

    /// Why the commit no longer needs a fix; nil if it does.
    private func whyOutdated(_ failed: IndexedRun) async throws -> String? {
        try await FixSequence.whyOutdated(failed, index)
    }

    /// Pushes a fix that passed, if the target's definition says so.
    private func offer(_ series: inout FixSeries, _ sequence: FixSequence, _ failed: IndexedRun) async throws {
        guard let check = sequence.parts.last, let change = failed.request.change,
            let commit = sequence.parts.last(where: { $0.run == check.role.maker })?.record?.commit,
            check.role.mayPush
        else { return }
        let reason = series.reason
        func kept(_ why: String) { series.reason = "\(reason); not pushed: \(why)" }
        guard check.verdict == .passed else { return kept("only fixes that pass without flaky tests are pushed") }
        if let why = try await whyOutdated(failed) { return kept(why) }
        let repository = try await repositories.repository(named: failed.request.repository)
        let push = FixPush(
            repository: repository, ref: failed.request.ref, head: failed.request.head, target: change.target,
            commit: commit)
        switch try await push.push() {
        case .pushed(let branch):
            series.state = .pushed
            series.reason = "\(reason); pushed to \(branch)"
            repositories.watchers[repository.name]?.wakeUp()
        case .kept(let why): kept(why)
        }
    }

    /// Removes the refs of fixes whose runs were removed from the archive, so that Git can delete their objects.
    func sweep() async {
        do {
            for name in try await index.repositories().keys.sorted() {
                let store = "\(repositories.mirrors)/\(name).merges.git"
                guard FileManager.default.fileExists(atPath: "\(store)/HEAD") else { continue }
                let refs = try await withRepository(at: store) {
                    try $0.snapshot(under: FixCommit.refs).refs.map(\.key)
                }
                for ref in refs {
                    guard let last = ref.split(separator: "/").last, let run = RunID(last.prefix { $0 != "-" }),
                        try await index.run(run) == nil
                    else { continue }
                    try await withRepository(at: store) { try $0.deleteRef(ref) }
                }
            }
        } catch is CancellationError {
            return
        } catch {
            log.warning("the refs of old fixes can't be removed: \(error)", metadata: .code(.fixCleanupFailed))
        }
    }
}

extension FixSequence {
    /// Why the commit no longer needs a fix; nil if it does.
    static func whyOutdated(_ failed: IndexedRun, _ index: Store.Index) async throws -> String? {
        guard let change = failed.request.change,
            let record = try await index.change(change.name, of: failed.request.repository)
        else { return nil }
        if record.state == .landed || record.state == .closed { return "the change is \(record.state.rawValue)" }
        return record.head == failed.request.head ? nil : "the change is at \(record.head.prefix(10)) now"
    }
}
