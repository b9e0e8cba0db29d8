import Concurrency
import Control
import Foundation
import MachinePool
import Masking
import Pipeline
import Results
import Synchronization
import SystemPackage
import TestBasics
import TestShards
import TestSupport
import Testing

@testable import Engine
@testable import Placing
@testable import Workspaces

struct RunFolderTrait: TestTrait, SuiteTrait, TestScoping {
    let isRecursive = true

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await RunFolder.provide(function)
    }
}

extension Trait where Self == RunFolderTrait {
    /// Hands the test a `RunFolder.current`.
    static var runFolder: RunFolderTrait { RunFolderTrait() }
}

/// One run on several machines, with real agents.
@Suite(.runFolder, .timeLimit(.minutes(3))) struct SpreadingTests {
    private static let gpu = MachineNeeds(traits: [.label("gpu")])

    private func plan(_ steps: [PlannedStep]) -> Plan { Plan(workflow: "test", steps: steps) }

    // MARK: Checks of what a machine has proved

    @Test func `a step that is to be checked runs on another machine, and stays if none is free`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": ([], 1)])
        let plan = plan([
            .shell("bound", "touch made") { $0.machine = SpreadingTests.gpu },
            .shell("end", "test -e made", needs: ["bound"]),
            .shell("check", "cat a"),
        ])
        let ended = try await bench.run(plan, checks: ["end", "check"])
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.machine == "two")
        #expect(ended["bound"].attempts.map(\.machine) == [nil] && ended["end"].attempts.map(\.machine) == [nil])
        let other = ended["check"].attempts.map(\.machine)
        #expect(other == ["three"] || other == ["this machine"], "\(other)")
        #expect(bench.log(ended["check"]) == "one\n")

        let busy = WaitingRun(id: 9, owner: "beta", scope: .only("three"), snapshot: "", seconds: 60)
        #expect(try await bench.placement.machine(for: busy, PlaceWait()).name == "three")
        for id in 10...13 {
            let here = WaitingRun(id: id, owner: "beta", scope: .only("this machine"), snapshot: "", seconds: 60)
            _ = try await bench.placement.machine(for: here, PlaceWait())
        }
        let alone = try await bench.run(plan, id: 2, checks: ["check"])
        #expect(alone.outcome.verdict == .passed && alone["check"].attempts.map(\.machine) == [nil])
        for id in 9...13 { bench.placement.leave(RunID(id)) }
        bench.expectNothingLeft()
    }

    // MARK: Steps with needs of their own

    @Test func `a step with a need of its own has there what it needs, and gives back what others need`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let secret = Secret(name: "TOKEN", bytes: Array("t0p-secret-token".utf8))
        let plan = plan([
            .shell(
                "make",
                """
                mkdir -p out/void; cat a > out/a; ln -s a out/link; echo secret > undeclared
                printf '"1.2"' > "$PIPECTL_VALUES_OUT/version.json"
                """
            ) {
                $0.outputs = ["out/**"]
                $0.publishes = ["version"]
            },
            .shell(
                "gpu",
                """
                cat out/link "$PIPECTL_VALUES_IN/version.json"; test -d out/void; test ! -e undeclared
                test "$TOKEN" = t0p-secret-token; echo "$TOKEN"
                mkdir -p made; echo two > made/b; printf '7' > "$PIPECTL_VALUES_OUT/number.json"
                echo '<testsuite name="s"><testcase classname="C" name="good"/></testsuite>' > results.xml
                """, needs: ["make"]
            ) {
                $0.machine = SpreadingTests.gpu
                $0.outputs = ["made/**"]
                $0.artifacts = ["made/b"]
                $0.publishes = ["number"]
                $0.testResults = [.junit("results.xml")]
                $0.secrets = [SecretUse("TOKEN", as: .environment)]
            },
            .shell("use", #"cat made/b out/a "$PIPECTL_VALUES_IN/number.json"; test -e undeclared"#, needs: ["gpu"]),
        ])
        let ended = try await bench.run(plan) { $0.secrets = RunSecrets([secret]) }
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.machine == nil)
        #expect(ended.outcome.steps.map { $0.attempts.map(\.machine) } == [[nil], ["two"], [nil]])
        #expect(bench.log(ended["gpu"]).hasPrefix("one\n\"1.2\""))
        #expect(!bench.log(ended["gpu"]).contains("t0p-secret"))
        #expect(bench.log(ended["use"]) == "two\none\n7")
        #expect(ended.outcome.tests.map(\.name) == ["good"])
        #expect(ended.outcome.artifacts.map(\.path) == ["made/b"])
        bench.expectNothingLeft()
    }

    @Test func `outputs go from one other machine to the next, and an idle place is used again`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": (["fpga"], 1)])
        let fpga = MachineNeeds(traits: [.label("fpga")])
        let plan = plan([
            .shell("plain", "true") { $0.leavesNothing = true },
            .shell("one", "echo 1 > one", needs: ["plain"]) { ($0.machine, $0.outputs) = (Self.gpu, ["one"]) },
            .shell("two", "cat one; echo 2 > two", needs: ["one"]) { ($0.machine, $0.outputs) = (fpga, ["two"]) },
            .shell("three", "cat one two", needs: ["two"]) { $0.machine = Self.gpu },
        ])
        let ended = try await bench.run(plan)
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.outcome.steps.compactMap { $0.attempts.first?.machine } == ["two", "three", "two"])
        #expect(bench.log(ended["three"]) == "1\n2\n")
        #expect(bench.reach.count("two") == 1 && bench.reach.count("three") == 1)
        bench.expectNothingLeft()
    }

    @Test func `a step whose outputs can't be brought does not run without them`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let plan = plan([
            .shell("make", "mkdir out; ln -s /etc/passwd out/a") { $0.outputs = ["out/**"] },
            .shell("gpu", "true", needs: ["make"]) { $0.machine = Self.gpu },
        ])
        let ended = try await bench.run(plan)
        #expect(ended["gpu"].status == .failed && ended["gpu"].attempts.isEmpty)
        #expect(ended["gpu"].reason?.contains("out/a") == true)
        bench.expectNothingLeft()
    }

    @Test func `a run that could never have its machines ends before it begins`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let fpga = MachineNeeds(traits: [.label("fpga")])
        let unknown = plan([.shell("s", "true"), .shell("t", "true") { $0.machine = fpga }])
        await #expect(throws: PlaceUnavailable.self) { try await bench.places.provide(bench.order(unknown)) }
        // What "make" leaves is not declared, so both stay together, and no machine is both.
        let bound = plan([
            .shell("make", "true") { $0.machine = MachineNeeds(traits: [SpreadBench.foreign]) },
            .shell("t", "true", needs: ["make"]) { $0.machine = Self.gpu },
        ])
        let problem = await #expect(throws: PlaceUnavailable.self) {
            try await bench.places.provide(bench.order(bound))
        }
        #expect(problem?.reason.contains("\"make\"") == true, "\(String(describing: problem))")
        bench.expectNothingLeft()
    }

    @Test func `one run builds on two systems, and only what asks for the other one is there`() async throws {
        let bench = try await SpreadBench.make(["foreign": ([], 4)])
        let own = ThisMachine.traits.filter(\.isMeasured)
        let plan = plan([
            .shell("generate", "cat a > generated") { $0.outputs = ["generated"] },
            .shell("foreign", "cat generated", needs: ["generate"]) {
                $0.machine = MachineNeeds(traits: [SpreadBench.foreign])
            },
            .shell("own", "cat generated", needs: ["generate"]) { $0.machine = MachineNeeds(traits: own) },
            // They could start earlier there, but it is no machine of the same kind.
            .shell("any", "true"), .shell("thing", "true"),
        ])
        let ended = try await bench.run(plan, slots: 1)
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.outcome.steps.map { $0.attempts.map(\.machine) } == [[nil], ["foreign"], [nil], [nil], [nil]])
        #expect(bench.log(ended["foreign"]) == "one\n" && bench.log(ended["own"]) == "one\n")
        bench.expectNothingLeft()
    }

    @Test func `steps that share undeclared files stay together on a machine that has all`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let plan = plan([
            .shell("make", "echo 1 > undeclared"),
            .shell("gpu", "cat undeclared", needs: ["make"]) { $0.machine = Self.gpu },
        ])
        let ended = try await bench.run(plan)
        #expect(ended.outcome.verdict == .passed && ended.machine == "two")
        #expect(ended.outcome.steps.allSatisfy { $0.attempts.first?.machine == nil })
        bench.expectNothingLeft()
    }

    @Test func `what ran elsewhere than its run is no proof, nor is what needs it`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let plan = plan([
            .shell("plain", "true"),
            .shell("gpu", "echo 1 > made") { ($0.machine, $0.outputs) = (Self.gpu, ["made"]) },
            .shell("after", "cat made", needs: ["gpu"]),
        ])
        let ended = try await bench.run(plan) { setting in
            for step in plan.steps {
                setting.keys[step.name] = StepKey(
                    value: String(repeating: "a", count: 64), definition: step.name, parts: [:])
            }
        }
        #expect(ended.outcome.verdict == .passed && ended["gpu"].attempts.map(\.machine) == ["two"])
        #expect(ended.outcome.steps.filter { $0.key != nil }.map(\.name) == ["plain"])
        bench.expectNothingLeft()
    }

    // MARK: Independent steps

    @Test func `parts of a step run on both machines, and the report is one`() async throws {
        let bench = try await SpreadBench.make(["two": ([], 3)])
        let runner = """
            \(SpreadBench.meeting("$PIPECTL_SHARD"))
            awk 'BEGIN { print "<testsuite>" } {
                split($0, part, "/"); printf "<testcase classname=\\"%s\\" name=\\"%s\\"/>\\n", part[1], part[2]
            } END { print "</testsuite>" }' "$PIPECTL_TESTS_FILE" > results-$PIPECTL_SHARD.xml
            """
        let plan = Workflow("test") {
            let listing = Step("list", run: #"for n in 1 2 3 4 5 6 7 8 9; do echo "M.S/test$n"; done > tests.txt"#)
                .outputs("tests.txt")
            Step("tests", needs: listing, run: runner).testResults(.junit("results-$PIPECTL_SHARD.xml"))
                .shards(4, of: "tests.txt")
        }.plan(for: PlanContext(repository: "r", event: .manual, commit: "c", ref: "refs/heads/main"))
        async let running = bench.run(plan, slots: 1) { setting in
            setting.place = DividedPlace(setting.place, knowing: [:], folder: setting.folder)
        }
        let begun = try await bench.begun(4)
        #expect(Set(begun.map(\.step)) == ["1", "2", "3", "4"])
        #expect(Set(begun.map(\.workspace)).count == 2)
        #expect(bench.placement.uses.first { $0.name == "two" }?.free == 0)
        #expect(bench.placement.uses.first { $0.name == "two" }?.runs == [1])
        try bench.letGo()
        let ended = try await running
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.outcome.tests.map(\.name).sorted() == (1...9).map { "test\($0)" })
        let machines = ended.outcome.steps.dropFirst().map { $0.attempts.first?.machine }
        #expect(machines.filter { $0 == "two" }.count == 3 && machines.contains(nil))
        #expect(bench.reach.count("two") == 1)
        bench.expectNothingLeft()
    }

    @Test func `a step that may count on undeclared files waits for its own machine`() async throws {
        let bench = try await SpreadBench.make(["two": ([], 3)])
        let plan = plan([
            .shell("make", "echo 1 > undeclared"),
            .shell("a", "cat undeclared", needs: ["make"]), .shell("b", "cat undeclared", needs: ["make"]),
        ])
        let ended = try await bench.run(plan, slots: 1)
        #expect(ended.outcome.verdict == .passed)
        #expect(ended.outcome.steps.allSatisfy { $0.attempts.map(\.machine) == [nil] })
        #expect(bench.reach.count("two") == 0)
        bench.expectNothingLeft()
    }

    @Test func `a machine that does not answer holds up no step that its own machine can run`() async throws {
        let bench = try await SpreadBench.make(["silent": ([], 2)])
        let ended = try await bench.run(plan([.shell("a", "sleep 0.3"), .shell("b", "sleep 0.3")]), slots: 1)
        #expect(ended.outcome.verdict == .passed)
        #expect(ended.outcome.steps.allSatisfy { $0.attempts.map(\.machine) == [nil] })
        #expect(bench.placement.uses.allSatisfy { $0.reason == nil })
        bench.expectNothingLeft()
    }

    @Test func `what a cluster gives is for one step, and given back after it`() async throws {
        let bench = try await SpreadBench.make(["cluster": (["gpu"], 1)])
        let ended = try await bench.run(
            plan([
                .shell("plain", "true"),
                .shell("one", "echo 1 > one; touch undeclared") { ($0.machine, $0.outputs) = (Self.gpu, ["one"]) },
                .shell("two", "cat one; test ! -e undeclared", needs: ["one"]) { $0.machine = Self.gpu },
            ]))
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended.outcome.steps.map { $0.attempts.map(\.machine) } == [[nil], ["cluster"], ["cluster"]])
        #expect(bench.reach.count("cluster") == 2)
        bench.expectNothingLeft()
    }

    @Test func `an allocation that a step does not need any more is given back at once`() async throws {
        let bench = try await SpreadBench.make(["cluster-silent": ([], 1)])
        let plan = plan([.shell("a", SpreadBench.meeting("a")), .shell("b", SpreadBench.meeting("b"))])
        async let running = bench.run(plan, slots: 1)
        let first = try #require(try await bench.begun(1).first)
        try await eventually("the other step asks the cluster") { bench.reach.asked.value == 1 }
        #expect(bench.placement.uses.first { $0.name == "cluster-silent" }?.free == 0)
        try "".write(toFile: "\(first.workspace)/go-\(first.step)", atomically: false, encoding: .utf8)
        try await bench.begun(2)
        // The other step has the slot of the run's machine and goes on.
        try await eventually("the allocation is given up") { bench.reach.givenUp.value == 1 }
        try await eventually("the slot is free") {
            bench.placement.uses.first { $0.name == "cluster-silent" }?.free == 1
        }
        #expect(bench.reach.asked.value == 1)
        try bench.letGo()
        let ended = try await running
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        bench.expectNothingLeft()
    }

    @Test func `as many steps run in an allocation as it has processors`() async throws {
        let bench = try await SpreadBench.make(["cluster": (["gpu"], 2)])
        for (id, cpus) in [(RunID(1), nil), (2, 3)] as [(RunID, Int?)] {
            let plan = plan([
                .shell("make", "true") { $0.machine = MachineNeeds(traits: [.label("gpu")], cpus: cpus) },
                .shell("use", "true", needs: ["make"]),
            ])
            let provided = try await bench.places.provide(bench.order(plan, id: id))
            #expect(provided.elsewhere?.name == "cluster" && provided.elsewhere?.steps == cpus ?? 1)
            await provided.abandon()
            bench.placement.leave(id)
        }
        bench.expectNothingLeft()
    }

    @Test func `a cluster of unknown processor takes and lends no step that could need another one`() async throws {
        let bench = try await SpreadBench.make(["cluster-unknown": (["gpu"], 9), "two": (["fpga"], 9)])
        let free = [PlannedStep.shell("a", "sleep 0.3"), .shell("b", "sleep 0.3")]
        let here = try await bench.run(plan(free), slots: 1)
        #expect(here.outcome.verdict == .passed && bench.reach.count("cluster-unknown") == 0)
        let before = bench.reach.count("two")
        let bound = [
            PlannedStep.shell("make", "true") { $0.machine = Self.gpu }, .shell("use", "true", needs: ["make"]),
        ]
        let there = try await bench.run(plan(bound + free), id: 2)
        #expect(there.outcome.verdict == .passed && there.machine == "cluster-unknown")
        #expect(there.outcome.steps.allSatisfy { $0.attempts.map(\.machine) == [nil] })
        #expect(bench.reach.count("two") == before && bench.reach.count("cluster-unknown") == 1)
        let arch = MachineNeeds(traits: Array(ThisMachine.traits.suffix(1)))
        let named = try await bench.run(plan(bound + [.shell("arch", "true") { $0.machine = arch }]), id: 3)
        #expect(named.machine == "cluster-unknown" && named["arch"].attempts.first?.machine != nil)
        bench.expectNothingLeft()
    }

    // MARK: Losses

    @Test func `a step that gets no place on any machine ends`() async throws {
        let bench = try await SpreadBench.make([
            "lost1": (["gpu"], 1), "lost2": (["gpu"], 1), "lost3": (["gpu"], 1), "lost4": (["gpu"], 1),
            "lost5": (["gpu"], 1), "lost6": (["gpu"], 1), "lost7": (["gpu"], 1), "lost8": (["gpu"], 1),
            "lost9": (["gpu"], 1),
        ])
        let ended = try await bench.run(
            plan([.shell("plain", "true"), .shell("gpu", "true") { $0.machine = Self.gpu }])
        ) { $0.mostSites = 8 }
        #expect(ended["gpu"].status == .infrastructure && ended["gpu"].attempts.isEmpty)
        #expect(ended["gpu"].reason?.contains("No route to host.") == true)
        #expect(bench.reach.lost.value == 8)
    }

    @Test func `a test step whose machine is lost begins again on another one`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": (["gpu"], 1)])
        let plan = plan([
            .shell("plain", "true"), .shell("gpu", SpreadBench.meeting()) { $0.machine = Self.gpu },
        ])
        async let running = bench.run(plan)
        try await bench.begun(1)
        let first = try #require(bench.placement.uses.first { $0.name != "this machine" && $0.runs == [1] }?.name)
        let second = first == "two" ? "three" : "two"
        bench.reach.kill(first)
        try await eventually("it begins on \(second)", within: .seconds(60)) {
            bench.begun().contains { $0.workspace.contains("/machines/\(second)/") }
        }
        #expect(bench.placement.uses.first { $0.name == first }?.reason != nil, "it is left alone for a while")
        try bench.letGo()
        let ended = try await running
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended["gpu"].attempts.map(\.status) == [.infrastructure, .passed])
        #expect(ended["gpu"].attempts.map(\.machine) == [first, second])
        #expect(ended.outcome.findings.filter { $0.rule == "machine-lost" }.count == 1)
    }

    @Test func `a step begins again if its machine is lost before what it left was taken`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": (["gpu"], 1)])
        let plan = plan([
            .shell("plain", "true"),
            .shell(
                "gpu",
                """
                echo made > made
                echo '<testsuite name="s"><testcase classname="C" name="good"/></testsuite>' > results.xml
                """
            ) {
                ($0.machine, $0.artifacts) = (Self.gpu, ["made"])
                $0.testResults = [.junit("results.xml")]
            },
        ])
        let reach = bench.reach
        let ended = try await bench.run(
            plan,
            emit: { event in
                // Its artifacts are taken after this.
                guard case .attemptEnded("gpu", let attempt) = event, attempt.number == 1 else { return }
                for machine in ["two", "three"] { reach.kill(machine) }
            })
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended["gpu"].attempts.map(\.status) == [.infrastructure, .passed])
        #expect(Set(ended["gpu"].attempts.map(\.machine)) == ["two", "three"])
        #expect(ended.outcome.tests.map(\.name) == ["good"])
        #expect(ended.outcome.artifacts.map(\.path) == ["made"])
    }

    @Test func `a step that could run on its own machine begins again there`() async throws {
        let bench = try await SpreadBench.make(["two": ([], 1)])
        let plan = plan([.shell("a", SpreadBench.meeting("a")), .shell("b", SpreadBench.meeting("b"))])
        async let running = bench.run(plan, slots: 1)
        let moved = try #require(try await bench.begun(2).first { $0.workspace.contains("/machines/") })
        bench.reach.kill("two")
        let other = moved.step == "a" ? "b" : "a"
        let own = try #require(bench.begun().first { $0.step == other }?.workspace)
        try await eventually("the machine is known to be lost") {
            bench.placement.uses.first { $0.name == "two" }?.reason != nil
        }
        try "".write(toFile: "\(own)/go", atomically: false, encoding: .utf8)
        let ended = try await running
        #expect(ended.outcome.verdict == .passed, "\(ended.outcome.reason)")
        #expect(ended[moved.step].attempts.map(\.machine) == ["two", nil])
        #expect(ended[moved.step].attempts.map(\.status) == [.infrastructure, .passed])
    }

    @Test func `a step that may have acted is not repeated`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": (["gpu"], 1)])
        let plan = plan([
            .shell("plain", "true"), .shell("gpu", SpreadBench.meeting()) { $0.machine = Self.gpu },
        ])
        let intents = Mutex<[String]>([])
        async let running = bench.run(plan) {
            $0.journal = StepJournal(
                begin: { intent in intents.withLock { $0.append(intent.step) } }, end: { _, _ in })
        }
        try await bench.begun(1)
        for machine in ["two", "three"] { bench.reach.kill(machine) }
        let ended = try await running
        #expect(ended.outcome.verdict == .infrastructure)
        #expect(ended["gpu"].attempts.count == 1)
        #expect(intents.withLock { $0.filter { $0 == "gpu" } } == ["gpu"])
    }

    // MARK: The end

    @Test func `a cancelled run ends its steps everywhere`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1)])
        let (stop, marker) = (StopSignal(), Marker())
        let line = "trap '' TERM; touch begun-$PIPECTL_STEP; while :; do sleep 0.1\(marker); done"
        let plan = plan([
            .shell("own", line), .shell("gpu", line) { $0.machine = Self.gpu },
            // It waits for the machine's only slot.
            .shell("later", line) { $0.machine = Self.gpu },
        ])
        async let running = bench.run(plan, stop: stop)
        try await bench.begun(2)
        stop.stop(StopRequest(.cancelled, reason: "not wanted"))
        let ended = try await running
        #expect(ended.outcome.verdict == .cancelled)
        #expect(ended.outcome.steps.map(\.status) == [.cancelled, .cancelled, .cancelled])
        #expect(try await marker.isGone(within: .seconds(10)), "\(marker.survivors)")
        bench.expectNothingLeft()
    }

    @Test func `two runs that need each other's machine both end`() async throws {
        let bench = try await SpreadBench.make(["two": (["gpu"], 1), "three": (["fpga"], 1)])
        let fpga = MachineNeeds(traits: [.label("fpga")])
        // Each has the only slot of one machine, and needs the other one when both have begun.
        func plan(_ own: MachineNeeds, _ other: MachineNeeds) -> Plan {
            self.plan([
                .shell("own", SpreadBench.meeting("own")) { ($0.machine, $0.leavesNothing) = (own, true) },
                .shell("other", "true", needs: ["own"]) { $0.machine = other },
            ])
        }
        async let first = bench.run(plan(Self.gpu, fpga), id: 1)
        async let second = bench.run(plan(fpga, Self.gpu), id: 2)
        try await bench.begun(2)
        try bench.letGo()
        let (one, two) = (try await first, try await second)
        #expect(one.outcome.verdict == .passed && two.outcome.verdict == .passed)
        #expect(one.machine == "two" && two.machine == "three")
        #expect(one["other"].attempts.first?.machine == "three" && two["other"].attempts.first?.machine == "two")
        bench.expectNothingLeft()
    }
}
