import ProofKeys
import Pipeline
import Testing

@testable import Results
@testable import Engine

/// What happens with proved steps beside steps that run.
@Suite struct ProofSelectionTests {
    private func step(_ name: String, _ needs: String..., change: (inout PlannedStep) -> Void = { _ in }) -> PlannedStep
    {
        .shell(name, "true", needs: needs, change: change)
    }

    private func uses(_ steps: [PlannedStep], proved: Set<String>, restorable: Set<String> = [])
        -> [String: ProofSelection.Use]
    {
        ProofSelection.make(Plan(workflow: "w", steps: steps), proved: proved, restorable: restorable)
    }

    @Test func `if all steps are proved nothing is restored`() {
        let steps = [step("a"), step("b", "a"), step("c", "b")]
        #expect(uses(steps, proved: ["a", "b", "c"], restorable: ["a"]) == ["a": .cite, "b": .cite, "c": .cite])
    }

    @Test func `a proved step that a running step needs is restored or run`() {
        let steps = [step("a"), step("b", "a"), step("c", "b"), step("beside")]
        #expect(
            uses(steps, proved: ["a", "b", "beside"], restorable: ["b"])
                == ["a": .run, "b": .restore, "beside": .cite],
            "also what is needed through another step: its effect may be seen")
        #expect(uses(steps, proved: ["a", "b", "beside"], restorable: ["a", "b"])["a"] == .restore)
    }

    @Test func `a proved step without outputs is never run for others`() {
        let steps = [step("lint") { $0.leavesNothing = true }, step("deploy", "lint")]
        #expect(uses(steps, proved: ["lint"]) == ["lint": .cite])
        let value = [step("a") { ($0.leavesNothing, $0.publishes) = (true, ["v"]) }, step("b", "a")]
        #expect(uses(value, proved: ["a"]) == ["a": .run], "a value is something")
    }

    @Test func `a gate alone needs no files, but the steps behind it do`() {
        let gate = PlannedStep(name: "gate", action: .approval, needs: ["a"])
        #expect(uses([step("a"), gate], proved: ["a"]) == ["a": .cite])
        #expect(uses([step("a"), gate, step("b", "gate")], proved: ["a", "b"])["a"] == .cite)
        #expect(uses([step("a"), gate, step("b", "gate")], proved: ["a"])["a"] == .run)
    }

    @Test func `a step for failures is no reason to run another`() {
        let steps = [step("a"), step("tell", "a") { $0.condition = .onFailure }]
        #expect(uses(steps, proved: ["a"]) == ["a": .cite])
        let clean = [step("a"), step("clean", "a") { $0.condition = .always }]
        #expect(uses(clean, proved: ["a"]) == ["a": .run])
    }

    static func proof(_ name: String, run: Int64 = 12) -> ProvedStep {
        ProvedStep(
            citation: ProofCitation(run: run, attempt: 1, step: name),
            key: StepKey(value: "k", definition: "d", parts: [:]),
            tests: [TestResult(suite: name, name: "t", status: .passed)], testCounts: TestCounts(passed: 1))
    }

    @Test func `a plan of proved steps needs no workspace`() throws {
        let steps = [step("a"), step("b", "a"), step("tell") { $0.condition = .onFailure }]
        let plan = Plan(workflow: "w", steps: steps)
        let outcome = try #require(Runner.settled(plan, by: ["a": Self.proof("a"), "b": Self.proof("b", run: 13)]))
        #expect(outcome.verdict == .passed)
        #expect(outcome.reason == "2 of 3 steps passed, all proved by runs 12 and 13")
        #expect(outcome.steps.map(\.status) == [.passed, .passed, .skipped])
        #expect(outcome.steps.map(\.provedBy?.run) == [12, 13, nil])
        #expect(outcome.steps.map(\.tests) == [TestSpan(first: 0, count: 1), TestSpan(first: 1, count: 1), nil])
        #expect(outcome["b"].tests?.of(outcome.tests).map(\.suite) == ["b"])
        #expect(Runner.settled(plan, by: ["a": Self.proof("a")]) == nil)
        #expect(
            Runner.settled(Plan(workflow: "w", steps: steps + [step("c") { $0.condition = .always }]), by: [:]) == nil)
    }

    @Test(arguments: [(-1, 1), (0, 3), (2, 1), (3, 0), (0, -1), (Int.max, 1), (1, Int.max)])
    func `a span of tests that does not fit has no tests`(first: Int, count: Int) {
        let tests = [
            TestResult(suite: "", name: "a", status: .passed), TestResult(suite: "", name: "b", status: .passed),
        ]
        #expect(TestSpan(first: first, count: count).of(tests).isEmpty)
    }
}
