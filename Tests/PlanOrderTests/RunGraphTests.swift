import Pipeline
import TestBasics
import TestSupport
import Testing

@testable import PlanOrder
@testable import Results

@Suite struct RunGraphTests {
    static let outcomes: [StepStatus] = [.passed, .passed, .passed, .failed, .timedOut, .infrastructure, .cancelled]

    /// Runs one random graph and the reference in parallel; every difference and every broken rule is an issue.
    private func check(seed: Int, steps: Int) {
        var generator = SplitMix64(seed: seed)
        let plan = Plan.random(steps: steps, with: &generator)
        let failureRate = Int.random(in: 0...3, using: &generator)
        let stopAt = Bool.random(using: &generator) ? Int.random(in: 0...steps, using: &generator) : Int.max
        var graph = RunGraph(plan)
        var reference = ReferenceGraph(plan)
        var running: [Int] = []
        var ends = Array(repeating: 0, count: steps)
        var events = 0

        func compare() -> Bool {
            for skip in graph.takeSkips() {
                ends[skip.step] += 1
                #expect(graph.states[skip.step] == .ended(skip.status), "seed \(seed)")
                #expect(!skip.reason.isEmpty)
            }
            for step in plan.steps.indices {
                let place: ReferenceGraph.Place =
                    switch graph.states[step] {
                    case .waiting: .waiting
                    case .running: .running
                    case .ended(let status): .ended(status)
                    }
                guard place == reference.places[step] else {
                    Issue.record(
                        "seed \(seed), event \(events), \(plan.steps[step].name): \(place), not \(reference.places[step])"
                    )
                    return false
                }
            }
            return true
        }

        while !graph.isFinished {
            let started = graph.takeReady()
            #expect(started == reference.start(), "seed \(seed)")
            #expect(started == started.sorted(), "seed \(seed)")
            for step in started {
                let open = plan.steps[step].needs.filter { need in
                    plan.steps.indices.contains {
                        plan.steps[$0].name == need && (graph.states[$0] == .waiting || graph.states[$0] == .running)
                    }
                }
                #expect(open.isEmpty, "seed \(seed): \(plan.steps[step].name) started before \(open) ended")
            }
            running += started
            guard compare() else { return }
            if graph.isFinished { break }
            #expect(!graph.isStuck, "seed \(seed)")
            guard !running.isEmpty else {
                Issue.record("seed \(seed): nothing runs and \(events) events are past: a deadlock")
                return
            }
            if events == stopAt {
                graph.stop(because: "stopped")
                reference.stop(isFailure: false)
                guard compare() else { return }
            }
            let step = running.remove(at: Int.random(in: running.indices, using: &generator))
            let status: StepStatus =
                Int.random(in: 0...3, using: &generator) < failureRate
                ? Self.outcomes.randomElement(using: &generator) ?? .passed : .passed
            graph.end(step, as: status)
            reference.end(step, status)
            ends[step] += 1
            if plan.failFast, status.isFailure, !plan.steps[step].allowsFailure {
                graph.stop(because: "fail fast", isFailure: true)
                reference.stop(isFailure: true)
            }
            events += 1
            guard compare() else { return }
        }
        _ = compare()
        #expect(ends.allSatisfy { $0 == 1 }, "seed \(seed): some step did not end exactly once")
        #expect(graph.takeReady().isEmpty && !graph.isStuck)
    }

    @Test(.timeLimit(.minutes(2)), arguments: 0..<10)
    func `random graphs of some steps match the reference`(part: Int) {
        for seed in (part * 500)..<(part * 500 + 500) { check(seed: seed, steps: 1 + seed % 24) }
    }

    @Test(.timeLimit(.minutes(2)), arguments: 0..<8)
    func `random graphs of many steps match the reference`(part: Int) {
        check(seed: 100_000 + part, steps: 60 + part * 20)
    }

    @Test(.timeLimit(.minutes(2)), arguments: [1, 2])
    func `random graphs of five hundred steps match the reference`(seed: Int) {
        check(seed: 200_000 + seed, steps: 500)
    }

    @Test(.timeLimit(.minutes(1))) func `a chain of a hundred thousand steps neither overflows nor is slow`() {
        let count = 100_000
        let plan = Plan(
            workflow: "chain",
            steps: (0..<count).map {
                PlannedStep(name: "s\($0)", action: .command(["true"]), needs: $0 == 0 ? [] : ["s\($0 - 1)"])
            })
        var graph = RunGraph(plan)
        var order: [Int] = []
        while !graph.isFinished {
            for step in graph.takeReady() {
                order.append(step)
                graph.end(step, as: .passed)
            }
        }
        #expect(order == Array(0..<count))

        var failing = RunGraph(plan)
        _ = failing.takeReady()
        failing.end(0, as: .failed)
        #expect(failing.isFinished)
        #expect(failing.takeSkips().count == count - 1)
    }

    @Test(.timeLimit(.minutes(1))) func `a fan-out to a hundred thousand steps is not slow`() {
        let count = 100_000
        var steps = [PlannedStep(name: "root", action: .command(["true"]))]
        for number in 0..<count {
            steps.append(PlannedStep(name: "s\(number)", action: .command(["true"]), needs: ["root"]))
        }
        var last = PlannedStep(name: "last", action: .command(["true"]))
        last.condition = .always
        steps.append(last)
        var graph = RunGraph(Plan(workflow: "fan", steps: steps))
        #expect(graph.takeReady() == [0])
        graph.end(0, as: .passed)
        let ready = graph.takeReady()
        #expect(ready == Array(1...count))
        for step in ready { graph.end(step, as: .passed) }
        #expect(graph.takeReady() == [count + 1])
    }

    /// A small plan from `name: needs` with conditions by the name's first letter: `a`lways, `f` on failure.
    private func plan(_ steps: [(String, [String])]) -> Plan {
        Plan(
            workflow: "small",
            steps: steps.map { name, needs in
                var step = PlannedStep(name: name, action: .command(["true"]), needs: needs)
                if name.hasPrefix("a") { step.condition = .always }
                if name.hasPrefix("f") { step.condition = .onFailure }
                return step
            })
    }

    @Test func `a step that needs a last step does not keep it waiting`() {
        var graph = RunGraph(plan([("report", ["a"]), ("a", []), ("build", [])]))
        #expect(graph.takeReady() == [2])
        graph.end(2, as: .passed)
        #expect(graph.takeReady() == [1])
        graph.end(1, as: .passed)
        #expect(graph.takeReady() == [0])
    }

    @Test func `a failure further up counts for onFailure`() {
        var graph = RunGraph(plan([("build", []), ("test", ["build"]), ("f", ["test"])]))
        _ = graph.takeReady()
        graph.end(0, as: .failed)
        #expect(graph.takeSkips().map(\.step) == [1])
        #expect(graph.takeReady() == [2])
    }

    @Test func `failing fast still runs the steps for failures`() {
        var graph = RunGraph(plan([("one", []), ("two", []), ("three", ["two"]), ("f", []), ("a", [])]))
        #expect(graph.takeReady() == [0, 1])
        graph.end(0, as: .failed)
        graph.stop(because: "fail fast", isFailure: true)
        graph.end(1, as: .cancelled)
        #expect(graph.takeReady() == [3, 4])
        #expect(graph.takeSkips() == [.init(step: 2, status: .cancelled, reason: "fail fast")])
    }

    @Test func `a plan of last steps alone ends`() {
        var graph = RunGraph(plan([("f", []), ("a", [])]))
        #expect(graph.takeReady() == [1])
        #expect(graph.takeSkips() == [.init(step: 0, status: .skipped, reason: "no step failed")])
        graph.end(1, as: .passed)
        #expect(graph.isFinished)
    }

    @Test func `a cycle is detected and does not hang`() {
        var graph = RunGraph(plan([("one", ["two"]), ("two", ["one"])]))
        #expect(graph.takeReady().isEmpty)
        #expect(graph.isStuck)
    }
}
