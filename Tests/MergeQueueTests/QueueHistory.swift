import MergeQueue
import TestBasics

/// A world as simple as can be, in which a queue lives: it decides what merges, what passes and who pushes, and checks
/// after each step that the target is only where a queue may put it.
struct QueueHistory {
    /// What is in a commit, in order. The same content is the same commit.
    struct Content: Hashable {
        var changes: [String] = []
        /// The number of the last push by other hands.
        var pushes = 0
    }

    enum Violation: Error, Equatable {
        case untested(String)
        case landedTwice(String)
        case lost(String)
        case landedBad(String)
        case leftGood(String)
        case wrongParent
        case batchForForge
        case wrongClaim(String)
        case stuck
    }

    private var random: SplitMix64
    /// As it is on disk: what a daemon that was killed comes back with.
    private var stored: QueueState
    private var content: [String: Content] = ["base": Content()]
    private var tip = "base"
    private var pushes = 0
    /// What a run passed.
    private var passed: Set<Content> = []
    /// The commits as which the forge has merged changes.
    private var merged: [String: String] = [:]
    private var tries: [String: Int] = [:]
    private let rules: QueueRules
    private let bad: Set<String>
    /// Two of them fail together, each alone passes.
    private let clashes: Set<String>
    /// A commit that has one is flaky the first time.
    private let flaky: Set<String>
    private let unmergeable: Set<String>
    private(set) var landed: [String] = []
    private(set) var left: [String: Departure.Reason] = [:]
    private var asked: Set<String> = []
    private(set) var kills = 0
    /// Landings by the forge on top of something else than was tested.
    private(set) var untested = 0

    init(seed: Int, mover: QueueMover = .push) {
        var random = SplitMix64(seed: seed)
        rules = QueueRules(
            workflows: ["test"], method: "merge", definition: "d", batchSize: 1 + random.below(6),
            depth: 1 + random.below(4), attempts: 1 + random.below(3), mover: mover)
        func some(_ count: Int) -> Set<String> { Set((1...12).map(String.init).filter { _ in random.once(in: count) }) }
        (bad, clashes, flaky, unmergeable) = (some(6), some(8), some(5), some(9))
        self.random = random
        stored = QueueState(target: tip, rules: rules)
    }

    /// Plays a history to its end, at which no more changes come and nobody else pushes.
    mutating func play(steps: Int = 120) throws {
        var waiting = (1...12).map(String.init)
        for _ in 0..<steps {
            switch random.below(12) {
            case 0, 1:
                guard let next = waiting.popLast() else { continue }
                try ask(for: next)
            case 2 where random.once(in: 3): try pushByOthers()
            case 3 where random.once(in: 6): try happen(.freeze("by hand"))
            case 4 where random.once(in: 2): try happen(.resume)
            case 5 where random.once(in: 8):
                guard !stored.entries.isEmpty else { continue }
                try happen(.pushed(change: random.pick(stored.entries).change, head: "new"))
            default: try act()
            }
        }
        for change in waiting { try ask(for: change) }
        var rounds = 0
        while !stored.entries.isEmpty {
            if stored.frozen != nil { try happen(.resume) }
            try act()
            rounds += 1
            if rounds > 2_000 { throw Violation.stuck }
        }
        for change in asked where !landed.contains(change) && left[change] == nil { throw Violation.lost(change) }
    }

    private mutating func ask(for change: String) throws {
        asked.insert(change)
        try happen(.enqueue(QueueWish(change: change, head: "h\(change)", priority: random.once(in: 6) ? 1 : 0)))
    }

    /// Takes an event in and stores the state, unless the daemon dies before.
    private mutating func happen(_ event: QueueEvent) throws {
        var state = stored
        let departures = state.apply(event)
        if dies() {
            try observe()
            // A person who got no answer asks again. Everything else is found out anew.
            switch event {
            case .enqueue, .freeze, .resume, .pushed: return try happen(event)
            default: return
            }
        }
        stored = state
        try note(departures)
        if dies() { try observe() }
    }

    private mutating func dies() -> Bool {
        guard random.once(in: 15) else { return false }
        kills += 1
        return true
    }

    /// Looks where the target is, as a daemon does before each action.
    private mutating func observe() throws {
        if let intent = stored.intent, intent.to == tip {
            try happen(.landed(commit: tip, rules))
        } else if let intent = stored.intent, intent.isByForge, tip != intent.from,
            let commit = intent.entries.first.flatMap(stored.entry).flatMap({ merged[$0.change] })
        {
            try happen(.merged(commit: commit, isTested: content[commit] == content[intent.to], rules))
        } else if tip != stored.target {
            try happen(.targetMoved(to: tip, rules))
        }
    }

    private mutating func note(_ departures: [Departure]) throws {
        for departure in departures {
            let change = departure.entry.change
            switch departure.reason {
            case .landed(let commit, let tip):
                guard !landed.contains(change) else { throw Violation.landedTwice(change) }
                guard content[commit]?.changes.last == change, content[tip]?.changes.contains(change) == true else {
                    throw Violation.wrongParent
                }
                guard content[tip].map(passed.contains) == true else { throw Violation.wrongClaim(change) }
                landed.append(change)
            case .landedUntested(let commit):
                guard !landed.contains(change) else { throw Violation.landedTwice(change) }
                guard content[commit].map(passed.contains) == false else { throw Violation.wrongClaim(change) }
                landed.append(change)
                untested += 1
            case .failed:
                left[change] = departure.reason
                guard mayFail(change) else { throw Violation.leftGood(change) }
            default: left[change] = departure.reason
            }
        }
    }

    /// Whether the change can fail on the target as it is. Nobody else is sent away.
    private func mayFail(_ change: String) -> Bool {
        let there = content[tip]?.changes ?? []
        let isFlaky = rules.attempts == 1 && (there + [change]).contains(where: flaky.contains)
        let isClash = clashes.contains(change) && there.contains(where: clashes.contains)
        return bad.contains(change) || unmergeable.contains(change) || isClash || isFlaky || there.contains(change)
    }

    private mutating func pushByOthers() throws {
        moveTarget()
        try observe()
    }

    private mutating func moveTarget() {
        pushes += 1
        let new = Content(changes: content[tip]?.changes ?? [], pushes: pushes)
        tip = name(new)
        passed.insert(new)
    }

    private mutating func name(_ made: Content) -> String {
        let name = "\(made.changes.joined(separator: "+"))/\(made.pushes)"
        content[name] = made
        return name
    }

    /// Does one of the actions.
    private mutating func act() throws {
        try observe()
        let actions = stored.actions
        guard !actions.isEmpty else { return }
        switch random.pick(actions) {
        case .build(let base, let entries):
            try happen(.built(on: base, entries: entries.map(\.id), build(entries, on: base)))
        case .test(let result):
            if result.runs.isEmpty {
                return try happen(.started(commit: result.commit, runs: ["test": Int64(random.below(1_000))]))
            }
            tries[result.commit, default: 0] += 1
            let outcome = verdict(of: result.commit)
            if outcome == .passed, let tested = content[result.commit] { passed.insert(tested) }
            try happen(.tested(commit: result.commit, outcome))
        case .push(let intent): try push(intent)
        case .merge(let intent): try merge(intent)
        }
    }

    private mutating func build(_ entries: [QueueEntry], on base: String) -> [BuiltEntry] {
        var there = content[base] ?? Content()
        var built: [BuiltEntry] = []
        for entry in entries {
            if unmergeable.contains(entry.change) { return built + [.failed(.conflict(["a"]))] }
            if there.changes.contains(entry.change) { return built + [.failed(.nothing)] }
            there.changes.append(entry.change)
            let commit = name(there)
            built.append(.commit(commit, tree: commit))
        }
        return built
    }

    private mutating func push(_ intent: LandingIntent) throws {
        guard intent.from == tip else { return try observe() }
        guard content[intent.to].map(passed.contains) == true else { throw Violation.untested(intent.to) }
        if random.once(in: 20) { return try happen(.refused("a hook said no")) }
        let (before, after) = (content[tip]?.changes ?? [], content[intent.to]?.changes ?? [])
        guard after.starts(with: before), Set(after).count == after.count else { throw Violation.wrongParent }
        if let one = after.dropFirst(before.count).first(where: bad.contains) { throw Violation.landedBad(one) }
        tip = intent.to
        // The daemon may die between the push and the moment at which it knows.
        if dies() { return try observe() }
        try happen(.landed(commit: tip, rules))
    }

    /// What a forge does: it merges on top of whatever is there, and not always.
    private mutating func merge(_ intent: LandingIntent) throws {
        guard intent.from == tip else { return try observe() }
        guard content[intent.to].map(passed.contains) == true else { throw Violation.untested(intent.to) }
        guard let change = stored.entry(intent.entries[0])?.change, intent.entries.count == 1 else {
            throw Violation.batchForForge
        }
        // Between the look and the order, and before the answer.
        if random.once(in: 6) { moveTarget() }
        switch random.below(16) {
        case 0: return
        case 1: return try happen(.refused("the credential may not"))
        case 2: return try happen(.declined(.pushed(head: "new")))
        default: break
        }
        var there = content[tip] ?? Content()
        guard !there.changes.contains(change) else { throw Violation.landedTwice(change) }
        there.changes.append(change)
        tip = "forge \(merged.count)"
        content[tip] = there
        merged[change] = tip
        // The daemon may die before it knows.
        if dies() { return try observe() }
        if random.once(in: 8) { moveTarget() }
        try observe()
    }

    private mutating func verdict(of commit: String) -> TestOutcome {
        let there = content[commit]?.changes ?? []
        if random.once(in: 25) { return .undecided("the disk was full") }
        if random.once(in: 60) { return .cancelled("somebody cancelled it") }
        if there.contains(where: bad.contains) || there.count(where: clashes.contains) > 1 { return .failed }
        if tries[commit] == 1, there.contains(where: flaky.contains) { return .flaky }
        return .passed
    }
}
