import Foundation
import Pipeline
import PlanRules
import Testing

@Suite struct MachineNeedsTests {
    private let context = PlanContext(repository: "r", event: .manual, commit: "c", ref: "refs/heads/main")

    private func steps(of workflow: Workflow) -> [String: PlannedStep] {
        let steps = workflow.plan(for: context).steps
        return Dictionary(steps.map { ($0.name, $0) }) { first, _ in first }
    }

    @Test func `a step replaces the workflow's system, and keeps what it says nothing about`() {
        let workflow = Workflow("w") {
            Step("plain", run: "true")
            Step("mac", run: "true").on(.macOS).cpus(8)
            Step("more", run: "true").on(.label("gpu")).memory(.gigabytes(8)).memory(.gigabytes(4))
            Step.approval("go on")
        }
        .on(.linux, .label("fast")).cpus(2)
        let steps = steps(of: workflow)
        #expect(steps["plain"]?.machine == MachineNeeds(traits: [.label("fast"), .linux], cpus: 2))
        #expect(steps["mac"]?.machine == MachineNeeds(traits: [.label("fast"), .macOS], cpus: 8))
        #expect(
            steps["more"]?.machine
                == MachineNeeds(traits: [.label("fast"), .label("gpu"), .linux], cpus: 2, memory: 4_000_000_000))
        #expect(workflow.plan(for: context).validate().isEmpty)
    }

    @Test func `a machine for all steps of a plan has the most of everything`() {
        let plan = Workflow("w") {
            Step("a", run: "true").cpus(4)
            Step("b", run: "true").cpus(2).memory(.gibibytes(1)).on(.arch(.arm64))
            Step("c", run: "true")
        }.plan(for: context)
        #expect(plan.machineNeeds == MachineNeeds(traits: [.arch(.arm64)], cpus: 4, memory: 1 << 30))
        #expect(plan.machineNeeds.words == ["arm64", "4 CPUs", "1.0 GiB of memory"])
    }

    @Test func `a plan that was written before machines existed is read`() throws {
        let plan = Plan(workflow: "w", steps: [PlannedStep(name: "a", action: .shell("true"))])
        let text = try #require(String(bytes: JSONEncoder().encode(plan), encoding: .utf8))
        #expect(!text.contains("machine") && !text.contains("shard"))
        #expect(try JSONDecoder().decode(Plan.self, from: Data(text.utf8)) == plan)
    }

    @Test func `needs survive being written and read`() throws {
        let plan = Workflow("w") {
            Step("a", run: "true").on(.macOS, .arch(.arm64), .label("xcode-26")).cpus(4)
            Step("t", run: "true").testResults(.junit("r-$PIPECTL_SHARD.xml")).shards(2)
        }.plan(for: context)
        #expect(try JSONDecoder().decode(Plan.self, from: JSONEncoder().encode(plan)) == plan)
    }

    @Test func `a divided step is replaced by its parts wherever it is needed`() {
        let workflow = Workflow("w") {
            let build = Step("build", run: "make")
            let tests = Step("tests", needs: build, run: "make test")
                .testResults(.junit("r-$PIPECTL_SHARD-of-$PIPECTL_SHARDS.xml")).artifacts("log-$PIPECTL_SHARD").shards(
                    3)
            tests
            Step("ship", needs: tests, build, run: "make ship")
        }
        let plan = workflow.plan(for: context)
        #expect(plan.validate().isEmpty)
        #expect(plan.steps.map(\.name) == ["build", "tests (1 of 3)", "tests (2 of 3)", "tests (3 of 3)", "ship"])
        #expect(plan.steps[2].shard == Shard(of: "tests", 2, of: 3))
        #expect(plan.steps[2].needs == ["build"])
        #expect(plan.steps[2].testResults == [.junit("r-2-of-3.xml")])
        #expect(plan.steps[3].artifacts == ["log-3"])
        #expect(plan.steps[4].needs == ["tests (1 of 3)", "tests (2 of 3)", "tests (3 of 3)", "build"])
    }
}
