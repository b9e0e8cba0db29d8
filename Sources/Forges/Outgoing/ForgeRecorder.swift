import Foundation
import Pipeline
import Results
import Store

/// Turns the states of runs into states for the forge. It reads them from the store later, so no run waits for it, and
/// nothing that happened while no daemon ran is missed.
struct ForgeRecorder: Sendable {
    let repository: String
    let index: Store.Index
    /// The places of changes in merge queues, by their names.
    var places: @Sendable () async throws -> [String: QueuePlace] = { [:] }
    /// Told when something new is to be shown.
    var noteWanted: @Sendable () -> Void = {}
    /// Returns facts about a run that are not in its row: progress, report, page.
    let facts: @Sendable (RunSummary) async throws -> ForgeRunFacts
    /// How long a run may be queued before the forge is told, in seconds: most runs start at once, and would have to wait
    /// for the answer to that.
    static let queuedPause = 0.05

    /// Records a state for every run that changed since the last call.
    func record() async throws {
        while true {
            let news = try await index.forgeNews(of: repository)
            for item in news { try await record(item) }
            if news.count < 100 { break }
        }
        // A run that begins to wait for an approval is in the same state as before.
        let open = RunFilter(repository: repository, states: [.queued, .running], limit: 200)
        for summary in try await index.runs(open) where summary.heldFor != nil { try await showAsItIs(summary.id) }
    }

    /// Whether there are live runs, whose progress is of interest.
    func hasLiveRuns() async throws -> Bool {
        try await !index.runs(RunFilter(repository: repository, states: [.running], limit: 1)).isEmpty
    }

    /// Records the progress of live runs.
    ///
    /// - Returns: Whether there are any.
    func recordProgress() async throws -> Bool {
        let running = try await index.runs(RunFilter(repository: repository, states: [.running]))
        for summary in running { try await showAsItIs(summary.id) }
        return !running.isEmpty
    }

    /// Notes how a run is that has not ended.
    private func showAsItIs(_ id: RunID) async throws {
        guard let run = try await index.run(id), run.summary.state != .ended, isShown(run),
            try await index.newestRun(of: run.summary.workflow, at: run.summary.head, in: repository) == id
        else { return }
        try await want([.check(CheckRenderer.check(try await facts(run.summary)))])
    }

    private func record(_ news: ForgeRunNews) async throws {
        var wanted: [ForgeWanted] = []
        if let run = try await index.run(news.run), isShown(run) {
            let newest = try await index.newestRun(of: run.summary.workflow, at: run.summary.head, in: repository)
            var known: [ForgeRunFacts] = []
            // Only the newest run of a workflow and commit is shown.
            if newest == run.id {
                known = [try await facts(run.summary)]
                // The check is on its way while the comment is written.
                try await want(known.map { .check(CheckRenderer.check($0)) }, isQueued: run.summary.isWaiting)
                wanted += known.flatMap(ScanRenderer.scans).map { .scan($0) }
            }
            wanted += try await ofChange(run.summary, known)
        }
        try await want(wanted, news)
    }

    private func want(_ wanted: [ForgeWanted], _ news: ForgeRunNews? = nil, isQueued: Bool = false) async throws {
        try await index.wantForgeItems(
            try wanted.map { ($0.thing, try $0.json()) }, of: repository, run: news?.run, in: news?.state,
            after: isQueued ? Self.queuedPause : 0)
        if !wanted.isEmpty { noteWanted() }
    }

    /// Whether the forge has the run's commit and the run is to be shown there.
    private func isShown(_ run: IndexedRun) -> Bool {
        // The forge does not know a commit that the merge queue made, unless it is the change's own head.
        if case .landing = run.request.kind, run.request.head != run.request.change?.head { return false }
        return isShownKind(run)
    }

    private func isShownKind(_ run: IndexedRun) -> Bool {
        run.request.background == nil && !run.request.isAside && run.request.onlySteps == nil
            && run.request.onlyTests == nil && run.request.source == nil
            && !run.request.options.isForeground
    }

    /// The comment and the review of the change that the run tests, if the run is about its newest push.
    ///
    /// - Parameter known: Facts that were read before.
    private func ofChange(_ summary: RunSummary, _ known: [ForgeRunFacts]) async throws -> [ForgeWanted] {
        guard summary.state == .ended, let name = summary.change, let number = Int(name), number > 0,
            let change = try await index.change(name, of: repository), change.head == summary.head
        else { return [] }
        let runs = try await newestRuns(of: change, known)
        var wanted: [ForgeWanted] = []
        let circumstances = try await circumstances(of: change, places()[name])
        if let comment = CommentRenderer.comment(number, runs: runs, circumstances: circumstances) {
            wanted.append(.comment(comment))
        }
        if let review = ReviewRenderer.review(number, head: summary.head, runs: runs) { wanted.append(.review(review)) }
        return wanted
    }

    /// The newest run of each workflow at a change's newest push.
    private func newestRuns(of change: ChangeRecord, _ known: [ForgeRunFacts] = []) async throws -> [ForgeRunFacts] {
        let name = change.name
        var newest: [String: RunSummary] = [:]
        let filter = RunFilter(repository: repository, change: name, commitPrefix: change.head, limit: 200)
        for run in try await index.runs(filter) where run.upkeep == nil && !run.isAside {
            if run.id > newest[run.workflow]?.id ?? 0 { newest[run.workflow] = run }
        }
        var runs: [ForgeRunFacts] = []
        for run in newest.values.sorted(by: { $0.workflow < $1.workflow }) {
            let read = known.first { $0.summary.id == run.id && $0.summary.state == run.state }
            if let read { runs.append(read) } else { runs.append(try await facts(run)) }
        }
        return runs
    }

    // MARK: Circumstances

    /// What the comments tell of circumstances, by the numbers of their changes.
    struct Told: Sendable {
        fileprivate var keys: [Int: String] = [:]
        fileprivate var conflicts: [EarlyConflict]?
        fileprivate var places: [String: QueuePlace] = [:]
    }

    /// What the comments of the store tell.
    func told() async throws -> Told {
        var told = Told()
        for text in try await index.wantedForgeItems(of: repository, beginning: "comment ") {
            // A state of another version is replaced by its next run.
            guard case .comment(let state)? = try? ForgeWanted(json: text), let about = state.about else { continue }
            told.keys[state.change] = about
        }
        return told
    }

    /// Records the comments anew of changes that conflict with others than before, or have another place in a queue.
    func recordCircumstances(_ told: inout Told) async throws {
        let (conflicts, places) = (try await index.earlyConflicts(in: repository), try await places())
        guard conflicts != told.conflicts || places != told.places else { return }
        let names = Set(conflicts.map(\.change)).union(places.keys).union(told.keys.keys.map { "\($0)" })
        for name in names.sorted() {
            guard let number = Int(name), number > 0, let change = try await index.change(name, of: repository) else {
                continue
            }
            let now = try await circumstances(of: change, places[name])
            guard now.key != told.keys[number] else { continue }
            let runs = try await newestRuns(of: change)
            // Without a verdict there is no comment; it will tell the circumstances when it comes.
            if let comment = CommentRenderer.comment(number, runs: runs, circumstances: now) {
                try await want([.comment(comment)])
            }
            told.keys[number] = now.key
        }
        (told.conflicts, told.places) = (conflicts, places)
    }

    private func circumstances(of change: ChangeRecord, _ place: QueuePlace?) async throws -> ChangeCircumstances {
        let conflicts = try await index.earlyConflicts(of: change.name, in: repository)
            .filter { $0.head == change.head }
        return ChangeCircumstances(conflicts: conflicts, place: place)
    }
}

extension RunSummary {
    /// Whether it is in the queue for its turn, and not for an approval.
    fileprivate var isWaiting: Bool { state == .queued && heldFor == nil }
}
