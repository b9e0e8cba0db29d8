import Foundation
import MergeQueue
import Testing

/// Single steps of the queue.
@Suite struct QueueStateTests {
    private static func rules(batch: Int = 4, depth: Int = 2, attempts: Int = 2, method: String = "squash")
        -> QueueRules
    {
        QueueRules(workflows: ["test"], method: method, batchSize: batch, depth: depth, attempts: attempts)
    }

    private static func queue(_ count: Int, _ rules: QueueRules = rules()) -> QueueState {
        var state = QueueState(target: "T", rules: rules)
        for number in 1...max(count, 1) where count > 0 {
            _ = state.apply(.enqueue(QueueWish(change: "\(number)", head: "h\(number)")))
        }
        return state
    }

    /// Carries out what the queue wants built until nothing is left to build.
    private static func build(_ state: inout QueueState) {
        while let (base, entries) = state.actions.compactMap({ action -> (String, [QueueEntry])? in
            if case .build(let base, let entries) = action { (base, entries) } else { nil }
        }).first {
            var commit = base
            let built = entries.map { entry -> BuiltEntry in
                commit += "+\(entry.change)"
                return .commit(commit, tree: commit)
            }
            _ = state.apply(.built(on: base, entries: entries.map(\.id), built))
        }
    }

    private static func tested(_ state: QueueState) -> [String] {
        state.actions.compactMap { if case .test(let result) = $0 { result.commit } else { nil } }
    }

    private static func start(_ state: inout QueueState) {
        for (number, commit) in tested(state).enumerated() {
            _ = state.apply(.started(commit: commit, runs: ["test": Int64(number + 1)]))
        }
    }

    @Test func `batches are tested on top of each other, as many as the depth`() {
        var state = Self.queue(7, Self.rules(batch: 3, depth: 2))
        Self.build(&state)
        #expect(Self.tested(state) == ["T+1+2+3", "T+1+2+3+4+5+6"])
    }

    @Test func `a batch that passed lands as a whole, and what is on top of it stays tested`() throws {
        var state = Self.queue(4, Self.rules(batch: 2, depth: 2))
        Self.build(&state)
        Self.start(&state)
        #expect(state.apply(.tested(commit: "T+1+2+3+4", .passed)).isEmpty)
        #expect(state.intent == nil)
        #expect(state.apply(.tested(commit: "T+1+2", .passed)).isEmpty)
        #expect(state.actions == [.push(try #require(state.intent))])
        #expect(state.intent?.from == "T" && state.intent?.to == "T+1+2")
        let departures = state.apply(.landed(commit: "T+1+2", state.rules))
        #expect(
            departures.map(\.reason) == [
                .landed(commit: "T+1", tip: "T+1+2"), .landed(commit: "T+1+2", tip: "T+1+2"),
            ])
        #expect(departures.first?.runs == ["test": 1])
        #expect(state.intent?.to == "T+1+2+3+4")
    }

    @Test func `a batch that fails is halved, and the half that follows is not tested again as a whole`() {
        var state = Self.queue(4, Self.rules(batch: 4, depth: 2))
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1+2+3+4", .failed))
        Self.build(&state)
        #expect(Self.tested(state) == ["T+1+2", "T+1+2+3"])
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        _ = state.apply(.landed(commit: "T+1+2", state.rules))
        _ = state.apply(.tested(commit: "T+1+2+3", .passed))
        let departures = state.apply(.landed(commit: "T+1+2+3", state.rules))
        #expect(departures.map(\.entry.change) == ["3", "4"])
        #expect(departures.last?.reason == .failed(.failed))
        #expect(state.entries.isEmpty)
    }

    @Test func `those behind a change that fails are formed without it before it is decided`() {
        var state = Self.queue(3, Self.rules(batch: 1, depth: 2))
        Self.build(&state)
        #expect(state.apply(.tested(commit: "T+1+2", .failed)).isEmpty)
        Self.build(&state)
        #expect(Self.tested(state) == ["T+1", "T+1+3"])
        #expect(state.apply(.tested(commit: "T+1", .failed)).map(\.entry.change) == ["1"])
        Self.build(&state)
        #expect(Self.tested(state) == ["T+2", "T+2+3"])
    }

    @Test func `a flaky verdict has another try, and the last one counts as failed`() {
        var state = Self.queue(1, Self.rules(attempts: 2))
        Self.build(&state)
        Self.start(&state)
        #expect(state.apply(.tested(commit: "T+1", .flaky)).isEmpty)
        guard case .test(let again)? = state.actions.first else { return #expect(Bool(false)) }
        #expect(again.attempt == 2 && again.runs.isEmpty)
        #expect(state.apply(.tested(commit: "T+1", .flaky)).map(\.reason) == [.failed(.flaky)])
    }

    @Test func `runs without a verdict freeze the queue, and once resumed they have other names`() {
        var state = Self.queue(1)
        Self.build(&state)
        for _ in 0..<3 { #expect(state.apply(.tested(commit: "T+1", .undecided("disk full"))).isEmpty) }
        #expect(state.frozen == "disk full")
        #expect(state.actions.isEmpty)
        _ = state.apply(.resume)
        guard case .test(let again)? = state.actions.first else { return #expect(Bool(false)) }
        #expect(again.attempt == 4)
    }

    @Test func `nobody joins a batch that is under test`() {
        var state = Self.queue(2)
        Self.build(&state)
        Self.start(&state)
        _ = state.apply(.enqueue(QueueWish(change: "3", head: "h3")))
        Self.build(&state)
        #expect(Self.tested(state) == ["T+1+2", "T+1+2+3"])
    }

    @Test func `a change with priority comes first, but not before what lands`() {
        var state = Self.queue(2, Self.rules(batch: 1, depth: 1))
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1", .passed))
        _ = state.apply(.enqueue(QueueWish(change: "9", head: "h9", priority: 5)))
        #expect(state.entries.map(\.change) == ["1", "9", "2"])
    }

    @Test func `a target that others moved makes everything be tested again`() {
        var state = Self.queue(2)
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        #expect(state.intent != nil)
        #expect(state.apply(.targetMoved(to: "X", state.rules)).isEmpty)
        #expect(state.intent == nil && state.results.isEmpty && state.entries.count == 2)
        Self.build(&state)
        #expect(Self.tested(state) == ["X+1+2"])
        // News of what was tested before come late.
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        #expect(state.intent == nil)
    }

    @Test func `a change that was pushed to or closed leaves, and one that lands can't`() {
        var state = Self.queue(3, Self.rules(batch: 1, depth: 1))
        #expect(state.apply(.pushed(change: "2", head: "h2")).isEmpty)
        #expect(state.apply(.pushed(change: "2", head: "new")).map(\.reason) == [.pushed(head: "new")])
        #expect(state.apply(.closed(change: "3")).map(\.reason) == [.closed])
        #expect(state.apply(.closed(change: "3")).isEmpty)
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1", .passed))
        #expect(state.apply(.withdraw(change: "1")).isEmpty)
        #expect(state.isLanding(1))
    }

    @Test func `a conflict with those before is not final, one with the target is`() {
        var state = Self.queue(2, Self.rules(batch: 2, depth: 2))
        _ = state.apply(.built(on: "T", entries: [1, 2], [.commit("T+1", tree: "t"), .failed(.conflict(["a"]))]))
        #expect(state.entries.count == 2)
        #expect(Self.tested(state) == ["T+1"])
        #expect(state.apply(.tested(commit: "T+1", .failed)).map(\.entry.change) == ["1"])
        let departures = state.apply(.built(on: "T", entries: [2], [.failed(.conflict(["a"]))]))
        #expect(departures.map(\.reason) == [.failed(.conflict(["a"]))])
    }

    @Test func `what passed by another definition is tested again, as the same commit`() {
        var state = Self.queue(2, Self.rules(batch: 1, depth: 2))
        Self.build(&state)
        Self.start(&state)
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        _ = state.apply(.tested(commit: "T+1", .passed))
        var changed = Self.rules(batch: 1, depth: 2)
        changed.definition = "other"
        _ = state.apply(.landed(commit: "T+1", changed))
        #expect(state.intent == nil)
        #expect(Self.tested(state) == ["T+1+2"])
        _ = state.apply(.targetMoved(to: "T+1", nil))
        #expect(state.actions.isEmpty && state.entries.count == 1)
    }

    @Test func `a refused push freezes the queue and keeps the changes`() {
        var state = Self.queue(1)
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1", .passed))
        #expect(state.apply(.refused("a hook said no")).isEmpty)
        #expect(state.frozen == "a hook said no" && state.intent == nil && state.entries.count == 1)
        _ = state.apply(.resume)
        #expect(state.intent?.to == "T+1")
    }

    // MARK: Merged by a forge

    private static func byForge(_ count: Int) -> QueueState {
        var state = queue(
            count, QueueRules(workflows: ["test"], method: "squash", batchSize: 4, depth: 3, mover: .forge))
        build(&state)
        start(&state)
        return state
    }

    @Test func `a forge merges one change at a time, and what has the same tree stays tested`() throws {
        var state = Self.byForge(2)
        #expect(Self.tested(state) == ["T+1", "T+1+2"])
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        _ = state.apply(.tested(commit: "T+1", .passed))
        #expect(state.actions == [.merge(try #require(state.intent))])
        let departures = state.apply(.merged(commit: "F1", isTested: true, state.rules))
        #expect(departures.map(\.reason) == [.landed(commit: "F1", tip: "F1")])
        #expect(state.target == "F1" && state.intent?.from == "F1" && state.intent?.to == "T+1+2")
        #expect(state.intent?.tree == "T+1+2")
    }

    @Test func `what the forge merged on top of something else is untested, and all is tested anew`() {
        var state = Self.byForge(2)
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        _ = state.apply(.tested(commit: "T+1", .passed))
        let departures = state.apply(.merged(commit: "F1", isTested: false, state.rules))
        #expect(departures.map(\.reason) == [.landedUntested(commit: "F1")])
        #expect(state.intent == nil && state.results.isEmpty)
        Self.build(&state)
        #expect(Self.tested(state) == ["F1+2"])
    }

    @Test func `a change that the forge declines leaves, and an event without an intent changes nothing`() {
        var state = Self.byForge(2)
        _ = state.apply(.tested(commit: "T+1", .passed))
        #expect(state.apply(.declined(.pushed(head: "new"))).map(\.entry.change) == ["1"])
        #expect(state.intent == nil && state.entries.map(\.change) == ["2"])
        let before = state
        #expect(state.apply(.declined(.closed)).isEmpty)
        #expect(state.apply(.merged(commit: "F", isTested: true, nil)).isEmpty)
        #expect(state == before)
    }

    @Test func `a forge that fast-forwards to the tested commit has landed it`() {
        var state = Self.byForge(1)
        _ = state.apply(.tested(commit: "T+1", .passed))
        #expect(state.apply(.landed(commit: "T+1", state.rules)).count == 1)
    }

    @Test func `a state that an older version stored is pushed`() throws {
        var state = Self.queue(1)
        Self.build(&state)
        _ = state.apply(.tested(commit: "T+1", .passed))
        let text = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
            .replacing("\"mover\":\"push\",", with: "").replacing(",\"mover\":\"push\"", with: "")
        #expect(!text.contains("mover"))
        let read = try JSONDecoder().decode(QueueState.self, from: Data(text.utf8))
        #expect(read.actions == [.push(try #require(read.intent))])
    }

    @Test func `a label takes out only what it put in line`() {
        var state = Self.queue(1)
        _ = state.apply(.enqueue(QueueWish(change: "1", head: "h1", label: "land")))
        #expect(state.apply(.unlabelled(change: "1")).isEmpty, "a person had asked for it before")
        _ = state.apply(.enqueue(QueueWish(change: "2", head: "h2", label: "land")))
        _ = state.apply(.enqueue(QueueWish(change: "3", head: "h3", label: "land")))
        _ = state.apply(.enqueue(QueueWish(change: "3", head: "h3")))
        #expect(state.apply(.unlabelled(change: "2")).map(\.reason) == [.withdrawn])
        #expect(state.apply(.unlabelled(change: "3")).isEmpty, "a person has asked for it since")
    }

    @Test func `a state survives being stored`() throws {
        var state = Self.queue(4)
        Self.build(&state)
        Self.start(&state)
        _ = state.apply(.tested(commit: "T+1+2+3+4", .passed))
        _ = state.apply(.freeze("release"))
        let read = try JSONDecoder().decode(QueueState.self, from: JSONEncoder().encode(state))
        #expect(read == state)
        #expect(read.actions == state.actions)
    }
}

/// What people see of the queue.
@Suite struct QueuePositionTests {
    @Test func `a position says what is tested on top of what`() {
        let rules = QueueRules(workflows: ["test"], method: "squash", batchSize: 2, depth: 2)
        var state = QueueState(target: "T", rules: rules)
        for number in 1...6 { _ = state.apply(.enqueue(QueueWish(change: "\(number)", head: "h\(number)"))) }
        _ = state.apply(
            .built(on: "T", entries: [1, 2], [.commit("T+1", tree: "a"), .commit("T+1+2", tree: "b")]))
        _ = state.apply(
            .built(on: "T+1+2", entries: [3, 4], [.commit("T+1+2+3", tree: "c"), .commit("T+1+2+3+4", tree: "d")]))
        _ = state.apply(.started(commit: "T+1+2", runs: ["test": 11]))
        _ = state.apply(.tested(commit: "T+1+2+3+4", .passed))
        let positions = state.positions
        #expect(positions.map(\.entry.change) == ["1", "2", "3", "4", "5", "6"])
        #expect(positions.map(\.status) == [.testing, .testing, .passed, .passed, .waiting, .waiting])
        #expect(positions[0].with == ["2"] && positions[0].onTopOf.isEmpty && positions[0].runs == [11])
        #expect(positions[2].onTopOf == ["1", "2"] && positions[2].with == ["4"])
        #expect(positions.map(\.rounds) == [1, 1, 0, 0, 2, 2])
        _ = state.apply(.tested(commit: "T+1+2", .passed))
        #expect(state.positions.prefix(2).map(\.status) == [.landing, .landing])
    }
}
