import Watching
import Running
import Control
import Results
import Store
import Foundation
import Pipeline

/// One wait for a verdict: it checks when there is news, and sends each new state.
///
/// Nothing is concluded from absence: "everything passed" and "nothing runs" are valid only after an observation that
/// started after the request. A failure is valid at once.
struct VerdictWait {
    let request: WaitRequest
    let index: Store.Index
    let board: LiveBoard
    let watchers: [String: RepositoryWatcher]

    /// The current commit. It changes when the ref or change moves.
    var commit: String?
    var notes: [String] = []
    var requests: [RunID: RunRequest] = [:]
    private var followed: [RunID] = []
    private var looks = WaitLooks()
    private var states: WaitedRunStates

    /// - Parameter obstacle: Why no run starts although some wait.
    init(
        _ request: WaitRequest, index: Store.Index, board: LiveBoard, watchers: [String: RepositoryWatcher],
        obstacle: @escaping @Sendable () async -> String?
    ) {
        self.request = request
        self.index = index
        self.board = board
        self.watchers = watchers
        states = WaitedRunStates(index: index, board: board, obstacle: obstacle)
        switch request.subject {
        case .commit(let id): commit = id
        case .ref(_, let id): commit = id
        case .run, .change: break
        }
    }

    /// Sends each state with news; the last one has the conclusion.
    mutating func run(_ reply: @Sendable (WaitState) async throws -> Void) async throws {
        var last: WaitState?
        while true {
            try Task.checkCancellation()
            let mark = board.news.mark(of: followed)
            var (state, places) = try await look()
            let wantsLook = wantsLook(before: state)
            if wantsLook { state.conclusion = nil }
            if state.runs.map(\.id) != followed {
                // Events of these runs before they were followed were no news.
                followed = state.runs.map(\.id)
                if state.conclusion == nil { continue }
            }
            if !(last.map { state.isLike($0) } ?? false) {
                try await reply(state)
                last = state
            }
            if state.conclusion != nil { return }
            if wantsLook, !looks.hasFailed {
                looks.note(succeeded: await lookAtRefs(of: places))
                looks.isDone = !looks.hasFailed
                continue
            }
            await wait(since: mark)
            // A missing name is searched once more when its time is over.
            if looks.isAbsenceOver, !looks.hasFailed { looks.note(succeeded: await lookAtRefs(of: places)) }
        }
    }

    /// For a branch on which a change has just landed: its own runs, and not those of the change, whose head may be the
    /// same commit.
    private var ownRuns: Set<RunID> {
        guard case .ref(let name, _) = request.subject else { return [] }
        let refs = ["refs/heads/\(name)", "refs/tags/\(name)", name]
        return Set(requests.filter { $0.value.change == nil && refs.contains($0.value.ref) }.keys)
    }

    /// Waits for news; after a failed observation only for a while, so that it is tried again.
    private mutating func wait(since mark: ChangeNotifier.Mark) async {
        guard let pause = looks.pause else { return await board.news.wait(since: mark) }
        await withTaskGroup(of: Void.self) { [board] group in
            group.addTask { await board.news.wait(since: mark) }
            group.addTask { try? await Task.sleep(for: pause) }
            await group.next()
            group.cancelAll()
        }
        looks.hasFailed = false
    }

    /// Whether an observation is needed before the state counts.
    private func wantsLook(before state: WaitState) -> Bool {
        if looks.isDone || watchers.isEmpty { return false }
        switch request.subject {
        case .run: return false
        // The known position may be out of date: a push of a moment ago counts.
        case .change, .ref(_, commit: nil): return true
        case .commit, .ref:
            guard let conclusion = state.conclusion else { return state.runs.isEmpty }
            if conclusion.isEarly || [.failed, .conflict, .definitionError].contains(conclusion.verdict) {
                return false
            }
            // The observed runs have their verdicts; an observation confirms, if possible, that there are no more.
            return !(looks.hasFailed && !state.runs.isEmpty)
        }
    }

    private func lookAtRefs(of places: Set<String>?) async -> Bool {
        let wanted = watchers.filter { places?.contains($0.key) ?? true }.values
        guard !wanted.isEmpty else { return false }
        return await withTaskGroup(of: Bool.self) { group in
            for watcher in wanted { group.addTask { await watcher.lookNow() } }
            var succeeded = true
            for await one in group where !one { succeeded = false }
            return succeeded
        }
    }

    // MARK: One state

    private mutating func look() async throws -> (WaitState, places: Set<String>?) {
        let places = try await places()
        var state = WaitState(subject: request.subject.inWords, commit: commit)
        let runs: [IndexedRun]
        if case .run(let id) = request.subject {
            guard let run = try await index.run(id) else {
                throw RequestError.unknownRun(id)
            }
            runs = [run]
            state.commit = run.summary.head
        } else {
            try await findCommit(in: places)
            runs = try await followedRuns(in: places)
            state.commit = commit
        }
        state.notes = notes
        let queue = runs.contains { $0.summary.state == .queued } ? try await index.queued() : []
        for run in runs { state.runs.append(try await states.state(of: run, queue)) }
        if runs.isEmpty {
            let (unseen, conclusion) = try await absence(in: places)
            (state.unseen, state.conclusion) = (unseen, conclusion)
        } else {
            state.conclusion = WaitConclusion(of: state.runs, end: request.end, own: ownRuns)
            // A verdict must not seem to include a workflow that a filter left out.
            if state.conclusion != nil { state.notes += try await heldBack(beside: state.runs, in: places) }
        }
        return (state, places)
    }

    /// Why there is no run: the commit was not observed, or it was observed and triggers none.
    private mutating func absence(in places: Set<String>?) async throws -> (unseen: String?, WaitConclusion?) {
        let names = (places ?? Set(watchers.keys)).sorted().joined(separator: ", ")
        if watchers.isEmpty {
            return absent("the daemon watches no repository; restart it with `pipectl watch PATH-OR-URL`")
        }
        guard let commit else {
            return absent("\(names) has no \(request.subject.inWords)", next: ": check the name, or push it")
        }
        var found: [String] = []
        for place in places ?? Set(watchers.keys) { found += try await index.refs(at: commit, of: place) }
        guard let ref = found.first else {
            let missing = "no ref of \(names) is at \(commit.prefix(10))"
            if let byHand = try await runByHand(at: commit) {
                return absent("\(missing); run \(byHand), started by hand, tests it: `pipectl wait \(byHand)`")
            }
            return looks.hasFailed
                ? ("not seen yet: \(missing); it can't be read now, trying again", nil)
                : absent(missing, next: ": push it")
        }
        looks.absentSince = nil
        if case .change(let name) = request.subject, let reason = try await baselineReason(in: places) {
            let next = "pipectl run WORKFLOW --change \(name.shellQuoted)"
            return (nil, WaitConclusion(verdict: .notApplicable, reason: reason, run: nil, next: next))
        }
        let held = try await heldBack(at: commit, in: places)
        if !held.isEmpty {
            let reasons = held.prefix(5).map { "\"\($0.name)\" \($0.objection.why)" }.joined(separator: "; ")
            let name = held.count == 1 ? held[0].name.shellQuoted : "WORKFLOW"
            var subject = "--ref \(commit.prefix(12))"
            if case .change(let change) = request.subject { subject = "--change \(change.shellQuoted)" }
            return (
                nil,
                WaitConclusion(
                    verdict: .notApplicable, reason: "no workflow runs for \(commit.prefix(10)): \(reasons)", run: nil,
                    next: "pipectl run \(name) \(subject)")
            )
        }
        let reason =
            "no workflow runs for \(commit.prefix(10)): \(ref) triggers none, or the commit existed before the "
            + "daemon first looked"
        return (
            nil,
            WaitConclusion(
                verdict: .notApplicable, reason: reason, run: nil,
                next: "pipectl run WORKFLOW --ref \(commit.prefix(12))")
        )
    }

    /// Something is missing: a reason to wait, and to end once observations have not shown it for ``WaitLooks/grace``.
    ///
    /// - Parameter next: What to do about it, after the reason.
    private mutating func absent(_ what: String, next: String = "") -> (unseen: String?, WaitConclusion?) {
        let unseen = "not seen yet: \(what)"
        // Without a watched repository there is no observation to wait for.
        guard looks.isDone || watchers.isEmpty, !looks.hasFailed || watchers.isEmpty, request.isEndless != true,
            looks.isAbsent()
        else { return (unseen, nil) }
        let reason = "\(what)\(next); --timeout 0 waits for ever"
        return (nil, WaitConclusion(verdict: .notApplicable, reason: reason, run: nil))
    }
}

/// What a wait knows of the observations since its request.
private struct WaitLooks {
    /// Whether one that started after the request has ended.
    var isDone = false
    /// Whether the last one failed; it is tried again after a pause.
    var hasFailed = false
    /// Since when observations have not shown the ref or change.
    var absentSince: ContinuousClock.Instant?
    /// How long a name may be missing: a user who pushes and waits at once must not be told that it does not exist.
    static let grace = Duration.seconds(10)

    var isAbsenceOver: Bool { absentSince.map { $0 + Self.grace <= .now } ?? false }

    /// The longest time until the next observation; nil if only news cause one.
    var pause: Duration? {
        if hasFailed { return .seconds(5) }
        guard let absentSince, !isAbsenceOver else { return nil }
        return ContinuousClock.now.duration(to: absentSince + Self.grace)
    }

    mutating func note(succeeded: Bool) { hasFailed = !succeeded }

    /// Notes that an observation did not show the name, and returns whether that has lasted long enough.
    mutating func isAbsent() -> Bool {
        absentSince = absentSince ?? .now
        return isAbsenceOver
    }
}
