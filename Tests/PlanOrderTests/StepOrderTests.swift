import Results
import Pipeline
import PlanOrder
import Testing

/// The order in which steps start if there are fewer slots than steps.
struct StepOrderTests {
    private typealias Record = StepHistory.Record

    private func step(_ name: String, _ needs: String..., change: (inout PlannedStep) -> Void = { _ in }) -> PlannedStep
    {
        var step = PlannedStep(name: name, action: .shell("run \(name)"), needs: needs)
        change(&step)
        return step
    }

    /// The names in the order in which they would start if all were ready.
    private func order(
        _ steps: [PlannedStep], _ history: [String: Record] = [:], changed: [String] = [], near: [KnownTest] = []
    ) -> [String] {
        let plan = Plan(workflow: "test", steps: steps)
        let order = StepOrder(
            plan, history: StepHistory(steps: history),
            changedFiles: changed.map { ChangedFile(status: .modified, path: $0) }, nearTests: near)
        return zip(order.places, steps).sorted { $0.0 < $1.0 }.map(\.1.name)
    }

    @Test func `without a history the longest path comes first, then the plan's order`() {
        #expect(order([step("a"), step("b"), step("c")]) == ["a", "b", "c"])
        #expect(order([step("a"), step("b"), step("c", "b"), step("d", "c")]) == ["b", "c", "a", "d"])
    }

    @Test func `earlier failures come before changed steps, and those before frequent failures`() {
        let steps = [
            step("calm"), step("often"), step("near") { $0.inputs = ["Sources/Git/**"] }, step("before"),
        ]
        let history = [
            "often": Record(runs: 50, failures: 40, seconds: 1),
            "before": Record(runs: 50, seconds: 100, failedOnChange: true),
            "near": Record(runs: 50, seconds: 50), "calm": Record(runs: 50, seconds: 500),
        ]
        #expect(order(steps, history, changed: ["Sources/Git/OID.swift"]) == ["before", "near", "often", "calm"])
        #expect(order(steps, history, changed: ["docs/x.md"]) == ["before", "often", "calm", "near"])
    }

    @Test func `the most likely failure per second comes first`() {
        let history = [
            "slow": Record(runs: 10, failures: 5, seconds: 60), "quick": Record(runs: 10, failures: 1, seconds: 2),
            "rare": Record(runs: 48, failures: 1, seconds: 2),
        ]
        // (failures + 1) / (runs + 2) / seconds: 0.083, 0.02 and 0.0083.
        #expect(order([step("slow"), step("rare"), step("quick")], history) == ["quick", "rare", "slow"])
    }

    @Test func `a step is as urgent as the steps that wait for it`() {
        let steps = [step("lint"), step("docs"), step("build"), step("tests", "build"), step("pack", "build")]
        let history = [
            "lint": Record(runs: 10, failures: 2, seconds: 5),
            "tests": Record(runs: 10, seconds: 30, failedOnChange: true),
            "build": Record(runs: 10, seconds: 20), "docs": Record(runs: 10, seconds: 100),
            "pack": Record(runs: 10, seconds: 1),
        ]
        #expect(order(steps, history) == ["tests", "build", "lint", "docs", "pack"])
        // Of two that failed on this change, the one that can fail sooner comes first.
        let both = history.merging(["lint": Record(runs: 10, failures: 2, seconds: 5, failedOnChange: true)]) { $1 }
        #expect(order(steps, both).prefix(3) == ["lint", "tests", "build"])
    }

    @Test func `a step that can't fail the run is never urgent`() {
        let failing = Record(runs: 4, failures: 4, seconds: 1, failedOnChange: true)
        let steps = [
            step("plain"), step("allowed") { $0.allowsFailure = true }, step("always") { $0.condition = .always },
        ]
        #expect(
            order(steps, ["allowed": failing, "always": failing, "plain": Record(runs: 4, seconds: 1)])
                == ["plain", "allowed", "always"])
    }

    @Test func `a step is near a change by its own declarations`() {
        let steps = [
            step("rest"), step("server") { $0.workingDirectory = "server" },
            step("engine") { $0.action = .shell("swift test --filter EngineTests") },
            step("git") { $0.action = .command(["pytest", "checks/test_objects.py"]) },
            step("other inputs") {
                $0.inputs = ["docs/**"]
                $0.workingDirectory = "server"
            },
        ]
        #expect(order(steps, changed: ["server/main.go"]).first == "server")
        #expect(order(steps, changed: ["serverless/main.go"]).first == "rest")
        let near = KnownTest(suite: "EngineTests.GraphTests", name: "a()", file: "Tests/EngineTests/GraphTests.swift")
        #expect(order(steps, changed: ["Sources/Engine/Graph.swift"], near: [near]).first == "engine")
        let python = KnownTest(suite: "checks.test_objects", name: "test_a", file: "checks/test_objects.py")
        #expect(order(steps, changed: ["objects.py"], near: [python]).first == "git")
    }

    @Test func `every step has one position in a large plan`() {
        let chain = (0..<20_000).map { number in
            number == 0 ? step("0") : step("\(number)", "\(number - 1)")
        }
        let clock = ContinuousClock()
        var names: [String] = []
        let spent = clock.measure { names = order(chain, ["19999": Record(runs: 1, failures: 1, seconds: 1)]) }
        #expect(names.count == 20_000 && Set(names).count == 20_000)
        #expect(spent < .seconds(20), "a debug build beside other tests")
        let circle = [step("a", "b"), step("b", "a"), step("c")]
        #expect(order(circle, ["c": Record(runs: 1, failures: 1)]) == ["a", "b", "c"])
    }
}
