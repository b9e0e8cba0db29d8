/// The state of the merge queue of one branch. It is a value: events change it, and ``actions`` follows from it.
///
/// It depends on no clock, process or disk. Because the actions follow from the state alone, a daemon that was killed
/// continues with the stored state.
public struct QueueState: Sendable, Equatable, Codable {
    /// The rules that the target declares; nil if it declares no landing, in which case the queue waits.
    public private(set) var rules: QueueRules?
    /// The commit that the target is at.
    public private(set) var target: String
    /// In the order in which they land.
    public private(set) var entries: [QueueEntry] = []
    /// What is known about stacks on top of ``target``.
    public private(set) var results: [StackResult] = []
    /// Why the queue tests and lands nothing; nil if it is not frozen.
    public private(set) var frozen: String?
    /// A landing that has been decided and not been observed yet.
    public private(set) var intent: LandingIntent?
    private var nextID = 1

    /// After this many attempts without a result for one commit, the queue freezes.
    static let undecidedLimit = 3

    public init(target: String, rules: QueueRules?) {
        self.target = target
        self.rules = rules
    }

    // MARK: What is to be done

    /// What has to be done now. Each action leads to an event; until that event arrives, the action stays in the list.
    public var actions: [QueueAction] {
        if let intent { return [intent.isByForge ? .merge(intent) : .push(intent)] }
        guard frozen == nil, rules != nil else { return [] }
        var actions: [QueueAction] = []
        for batch in line.batches {
            guard let base = commit(of: batch.base) else { break }
            guard let result = result(of: batch.stack) else {
                actions.append(.build(on: base, batch.entries.compactMap(entry)))
                break
            }
            if result.status == .built { actions.append(.test(result)) }
        }
        return actions
    }

    /// The runs that are still needed: those of commits without a result. All other runs of the queue may be cancelled.
    public var wantedRuns: Set<Int64> {
        Set(results.filter { $0.status == .built }.flatMap(\.runs.values))
    }

    var line: QueueLine {
        guard let rules else {
            return QueueLine([], batchSize: 1, depth: 1, isWhole: { _ in false }, failure: { _ in nil })
        }
        let failures = Dictionary(
            results.compactMap { result -> ([Int], QueueFailure)? in
                if case .failed(let failure) = result.status { (result.entries, failure) } else { nil }
            }, uniquingKeysWith: { first, _ in first })
        let whole = Set(results.filter(\.isBatch).map(\.entries))
        return QueueLine(
            entries.map(\.id), batchSize: rules.batchSize, depth: rules.depth, isWhole: { whole.contains($0) },
            failure: { failures[$0] })
    }

    public func entry(_ id: Int) -> QueueEntry? { entries.first { $0.id == id } }
    public func entry(of change: String) -> QueueEntry? { entries.first { $0.change == change } }

    func result(of stack: [Int]) -> StackResult? { results.first { $0.entries == stack } }

    /// The commit in which these entries are merged on top of the target.
    func commit(of stack: [Int]) -> String? {
        stack.isEmpty ? target : result(of: stack).flatMap { $0.commit.isEmpty ? nil : $0.commit }
    }

    // MARK: What happens

    /// Applies an event. An event about an entry, commit or run that is no longer in the state changes nothing.
    ///
    /// - Returns: The entries that left the queue because of it, in order.
    public mutating func apply(_ event: QueueEvent) -> [Departure] {
        var departures: [Departure] = []
        switch event {
        case .enqueue(let wish): enqueue(wish)
        case .withdraw(let change): departures += leave(change, .withdrawn)
        case .unlabelled(let change):
            if entry(of: change)?.label != nil { departures += leave(change, .withdrawn) }
        case .pushed(let change, let head):
            if entry(of: change)?.head != head { departures += leave(change, .pushed(head: head)) }
        case .closed(let change): departures += leave(change, .closed)
        case .landedElsewhere(let change, let commit):
            departures += leave(change, .landedElsewhere(commit: commit))
        case .freeze(let reason): frozen = reason
        case .resume: resume()
        case .built(let base, let ids, let built): take(built, on: base, ids)
        case .started(let commit, let runs):
            change(commit) { result in result.runs.merge(runs) { $1 } }
        case .tested(let commit, let outcome): take(outcome, of: commit)
        case .landed(let commit, let rules): departures += land(commit, rules)
        case .merged(let commit, let isTested, let rules): departures += merge(commit, isTested, rules)
        case .declined(let reason): departures += decline(reason)
        case .refused(let reason):
            if intent != nil { (intent, frozen) = (nil, reason) }
        case .targetMoved(let commit, let rules): departures += move(to: commit, rules)
        }
        departures += settle()
        return departures
    }

    private mutating func enqueue(_ wish: QueueWish) {
        if let index = entries.firstIndex(where: { $0.change == wish.change }) {
            guard !isLanding(entries[index].id) else { return }
            if entries[index].head == wish.head {
                // A label does not take back what a person asked for.
                guard wish.label == nil else { return }
                (entries[index].priority, entries[index].label) = (wish.priority, nil)
                return sort()
            }
            entries.remove(at: index)
        }
        entries.append(QueueEntry(id: nextID, wish))
        nextID += 1
        sort()
    }

    private mutating func sort() {
        // An entry that lands now keeps its place: its commit has been decided.
        let landing = Set(intent?.entries ?? [])
        func rank(_ entry: QueueEntry) -> (Int, Int, Int) {
            (landing.contains(entry.id) ? 0 : 1, -entry.priority, entry.id)
        }
        entries.sort { rank($0) < rank($1) }
    }

    /// Whether the entry is part of the decided landing, which can't be stopped any more.
    public func isLanding(_ id: Int) -> Bool { intent?.entries.contains(id) ?? false }

    private mutating func leave(_ change: String, _ reason: Departure.Reason) -> [Departure] {
        guard let entry = entry(of: change), !isLanding(entry.id) else { return [] }
        entries.removeAll { $0.id == entry.id }
        return [Departure(entry: entry, reason: reason)]
    }

    private mutating func resume() {
        frozen = nil
        for index in results.indices { results[index].undecided = 0 }
    }

    private mutating func take(_ built: [BuiltEntry], on base: String, _ ids: [Int]) {
        guard let batch = line.batches.first(where: { commit(of: $0.base) == base && $0.entries == ids }) else {
            return
        }
        var stack = batch.base
        var commits = result(of: batch.base)?.commits ?? []
        for (id, outcome) in zip(ids, built) {
            stack.append(id)
            // A result for exactly this commit stays valid.
            let known = result(of: stack)
            switch outcome {
            case .commit(let commit, let tree):
                commits.append(commit)
                if known?.commit == commit { continue }
                results.removeAll { $0.entries == stack }
                results.append(StackResult(entries: stack, commits: commits, tree: tree, status: .built))
            case .failed(let failure):
                results.removeAll { $0.entries == stack }
                results.append(StackResult(entries: stack, commits: commits, tree: "", status: .failed(failure)))
                return
            }
        }
    }

    private mutating func change(_ commit: String, _ body: (inout StackResult) -> Void) {
        guard !commit.isEmpty else { return }
        for index in results.indices where results[index].commit == commit && results[index].status == .built {
            body(&results[index])
        }
    }

    private mutating func take(_ outcome: TestOutcome, of commit: String) {
        let attempts = rules?.attempts ?? 1
        var problem: String?
        change(commit) { result in
            switch outcome {
            case .passed: result.status = .passed
            case .failed: result.status = .failed(.failed)
            case .flaky:
                result.flaky += 1
                if result.flaky >= attempts { result.status = .failed(.flaky) } else { result.tryAgain() }
            case .undecided(let reason):
                result.undecided += 1
                result.tryAgain()
                if result.undecided >= Self.undecidedLimit { problem = reason }
            case .cancelled(let reason):
                result.tryAgain()
                problem = reason
            }
        }
        if let problem { frozen = frozen ?? problem }
    }

    private mutating func land(_ commit: String, _ rules: QueueRules?) -> [Departure] {
        guard let landed = intent, landed.to == commit else { return [] }
        return take(
            landed, zip(landed.entries, landed.commits).map { ($0, .landed(commit: $1, tip: commit)) }, commit, rules)
    }

    private mutating func merge(_ commit: String, _ isTested: Bool, _ rules: QueueRules?) -> [Departure] {
        guard let landed = intent, landed.isByForge else { return [] }
        let reason: Departure.Reason = isTested ? .landed(commit: commit, tip: commit) : .landedUntested(commit: commit)
        // What was tested on top of it, was tested on top of another tree.
        if !isTested { results.removeAll { $0.entries != landed.entries } }
        return take(landed, landed.entries.map { ($0, reason) }, commit, rules)
    }

    /// Ends the intended landing, by which the target is at `commit` now.
    private mutating func take(
        _ landed: LandingIntent, _ reasons: [(Int, Departure.Reason)], _ commit: String, _ rules: QueueRules?
    ) -> [Departure] {
        let all = runs(of: landed.entries)
        let departures = reasons.compactMap { id, reason in
            entry(id).map { Departure(entry: $0, reason: reason, runs: all) }
        }
        entries.removeAll { landed.entries.contains($0.id) }
        (target, intent) = (commit, nil)
        // A forge's commit has the same tree as the tested one, so what was tested on top of that stays tested.
        // The stacks that were built on top of the landed entries are now on top of the target, with the same commits.
        results = results.compactMap { result in
            guard result.entries.count > landed.entries.count, result.entries.starts(with: landed.entries) else {
                return nil
            }
            var result = result
            result.entries.removeFirst(landed.entries.count)
            result.commits.removeFirst(landed.commits.count)
            return result
        }
        obey(rules)
        return departures
    }

    /// The changes of the intended landing leave without having landed.
    private mutating func decline(_ reason: Departure.Reason) -> [Departure] {
        guard let declined = intent else { return [] }
        let departures = declined.entries.compactMap(entry).map { Departure(entry: $0, reason: reason) }
        intent = nil
        entries.removeAll { declined.entries.contains($0.id) }
        return departures
    }

    private mutating func move(to commit: String, _ rules: QueueRules?) -> [Departure] {
        if let intent, intent.to == commit { return land(commit, rules) }
        if commit != target { (target, results, intent) = (commit, [], nil) }
        obey(rules)
        return []
    }

    private mutating func obey(_ new: QueueRules?) {
        guard new != rules else { return }
        if new?.method != rules?.method {
            results = []
        } else if new?.definition != rules?.definition || new?.workflows != rules?.workflows {
            // The commits stay valid; their test results don't, because they were obtained with other rules.
            results = results.compactMap { result in
                guard !result.commit.isEmpty else { return result }
                return StackResult(entries: result.entries, commits: result.commits, tree: result.tree, status: .built)
            }
        }
        rules = new
    }

    private func runs(of stack: [Int]) -> [String: Int64] { result(of: stack)?.runs ?? [:] }

    /// Draws the conclusions from the results: entries that fail directly on top of the target leave, and the next
    /// landing is decided.
    private mutating func settle() -> [Departure] {
        var departures: [Departure] = []
        while intent == nil, let suspect = line.suspects.first(where: { $0.base.isEmpty }),
            let entry = entry(suspect.entry), case .failed(let failure) = result(of: [suspect.entry])?.status
        {
            departures.append(Departure(entry: entry, reason: .failed(failure), runs: runs(of: [entry.id])))
            entries.removeAll { $0.id == entry.id }
        }
        if intent == nil, frozen == nil, let first = line.batches.first, let result = result(of: first.stack),
            result.status == .passed
        {
            intent = LandingIntent(
                entries: first.entries, commits: result.commits, from: target, to: result.commit, tree: result.tree,
                mover: rules?.mover)
        }
        forget()
        return departures
    }

    /// Removes the results of stacks that contain an entry that has left, and those of untested stacks that are no part
    /// of a batch that is tested now.
    private mutating func forget() {
        let present = Set(entries.map(\.id))
        let wanted = line.batches.map(\.stack)
        results.removeAll { result in
            guard result.entries.allSatisfy(present.contains) else { return true }
            if result.status != .built { return false }
            // A stack that is the start of a needed one is needed too: its commits are part of that one.
            return !wanted.contains { $0.starts(with: result.entries) }
        }
    }
}
