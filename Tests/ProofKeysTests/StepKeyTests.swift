@testable import ProofKeys
import Pipeline
import Testing

@testable import Results

/// The parts of a key, and the steps that have none.
@Suite struct StepKeyTests {
    static let whole = KeyFacts.Inputs(digest: "tree 1")

    static func facts(_ change: (inout KeyFacts) -> Void = { _ in }) -> KeyFacts {
        var facts = KeyFacts()
        facts.inputs = [[]: whole, ["src/**"]: KeyFacts.Inputs(digest: "src 1")]
        for outputs in ["out/**", "dist/**"] { facts.tracked[[outputs]] = KeyFacts.Tracked(digest: "", files: []) }
        facts.parameters = ["mode": "fast"]
        facts.environment = ["PATH": "/bin"]
        facts.runVariables = ["PIPECTL_CHANGE": "7", "SOURCE_DATE_EPOCH": "1"]
        facts.commit = "c1"
        facts.closureContext = ["pullRequest"]
        facts.toolchain = "Swift 6.3"
        facts.machine = ["Linux x86_64"]
        facts.program = "p1"
        change(&facts)
        return facts
    }

    static func key(
        _ facts: KeyFacts = facts(), action: PlannedStep.Action = .shell("make"),
        _ change: (inout PlannedStep) -> Void = { _ in }
    ) -> StepKey? {
        var step = PlannedStep(name: "s", action: action)
        change(&step)
        return KeyedPlan(Plan(workflow: "w", steps: [step]), facts)["s"]
    }

    @Test func `a key is the same in every process and version of its format`() throws {
        let key = try #require(Self.key())
        #expect(Self.key() == key)
        // A change of this digest invalidates every proof of every archive: increase the format's number with it.
        #expect(key.value == "c6d3bd28fd5530164618498816b8353d1f126a8a5d74e0a7c8c284ce415b5c03")
        #expect(key.parts.count == StepKey.Part.allCases.count)
        #expect(key.definition.utf8.count == 64)
    }

    struct Change: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var part: StepKey.Part
        var facts: @Sendable (inout KeyFacts) -> Void = { _ in }
        var step: @Sendable (inout PlannedStep) -> Void = { _ in }
    }

    static let changes: [Change] = [
        Change(testDescription: "line", part: .command, step: { $0.action = .shell("make all") }),
        Change(testDescription: "words", part: .command, step: { $0.action = .command(["make"]) }),
        Change(testDescription: "variable of the step", part: .environment, step: { $0.environment = ["A": "1"] }),
        Change(
            testDescription: "variable of the box", part: .environment, facts: { $0.environment["PATH"] = "/usr/bin" }),
        Change(testDescription: "parameter", part: .parameters, facts: { $0.parameters["mode"] = "slow" }),
        Change(testDescription: "tree", part: .inputs, facts: { $0.inputs[[]] = .init(digest: "tree 2") }),
        Change(testDescription: "declared inputs", part: .inputs, step: { $0.inputs = ["src/**"] }),
        Change(
            testDescription: "network", part: .permissions, step: { ($0.network, $0.inputs) = (.allowed, ["src/**"]) }),
        Change(testDescription: "limit", part: .permissions, step: { $0.limits.memory = 1 << 30 }),
        Change(testDescription: "time-out", part: .permissions, step: { $0.timeout = 5 }),
        Change(testDescription: "cache", part: .permissions, step: { $0.caches = [CacheUse(name: "c", path: "~/c")] }),
        Change(testDescription: "folder", part: .permissions, step: { $0.workingDirectory = "sub" }),
        Change(testDescription: "terminal", part: .permissions, step: { $0.hasTerminal = true }),
        Change(testDescription: "sandbox", part: .permissions, step: { $0.permissions = [.tracing] }),
        Change(testDescription: "results", part: .results, step: { $0.testResults = [.junit("*.xml")] }),
        Change(testDescription: "artifacts", part: .results, step: { $0.artifacts = ["dist/*"] }),
        Change(testDescription: "outputs", part: .results, step: { $0.outputs = ["dist/**"] }),
        Change(testDescription: "toolchain", part: .toolchain, facts: { $0.toolchain = "Swift 6.4" }),
        Change(testDescription: "machine", part: .machine, facts: { $0.machine = ["Linux arm64"] }),
    ]

    @Test(arguments: changes) func `everything that a result depends on is in the key`(change: Change) throws {
        let before = try #require(Self.key())
        let after = try #require(Self.key(Self.facts(change.facts), change.step))
        #expect(after.value != before.value)
        #expect(after.differences(from: before).contains(change.part))
    }

    @Test func `variables that differ at each push are not in the key unless the step names them`() throws {
        func other(_ facts: inout KeyFacts) {
            (facts.commit, facts.program, facts.closureContext) = ("c2", "p2", ["push"])
            facts.runVariables = ["PIPECTL_CHANGE": "8", "SOURCE_DATE_EPOCH": "2"]
        }
        let facts = Self.facts(other)
        #expect(Self.key(facts) == Self.key())
        for line in ["echo $PIPECTL_RUN", "exit $PIPECTL_ATTEMPT", "echo ${PIPECTL_RUN_ATTEMPT}"] {
            #expect(Self.key(action: .shell(line)) == nil, "\(line): another one in each run")
        }
        #expect(Self.key { $0.environment = ["VERSION": "$PIPECTL_RUN"] } == nil)
        for line in [
            "echo $PIPECTL_CHANGE", "date -d @${SOURCE_DATE_EPOCH}", "git describe", "a; (git log)", "/usr/bin/git x",
        ] {
            let (one, two) = (Self.key(Self.facts(), action: .shell(line)), Self.key(facts, action: .shell(line)))
            #expect(one != two, "\(line)")
            #expect(one.flatMap { two?.differences(from: $0) } == [.context])
        }
        let variable = { (step: inout PlannedStep) in step.environment = ["VERSION": "$PIPECTL_CHANGE"] }
        #expect(Self.key(facts, variable) != Self.key(Self.facts(), variable))
        let program = { (step: inout PlannedStep) in step.environment = ["VCS": "git"] }
        #expect(Self.key(facts, program) != Self.key(Self.facts(), program), "its line may be $VCS log")
        #expect(Self.key(facts, action: .shell("digit .git/x gitx")) == Self.key(action: .shell("digit .git/x gitx")))
        #expect(
            Self.key(facts, action: .closure)?.differences(from: try #require(Self.key(action: .closure)))
                == [.context, .program], "a closure has the context and the other workflows at hand")
    }

    @Test func `a step with a key gets only variables that are in it`() {
        func withheld(_ action: PlannedStep.Action, _ change: (inout PlannedStep) -> Void = { _ in }) -> Set<String>? {
            var step = PlannedStep(name: "s", action: action)
            change(&step)
            return KeyedPlan(Plan(workflow: "w", steps: [step]), Self.facts()).withheld["s"]
        }
        let numbers: Set<String> = ["PIPECTL_RUN", "PIPECTL_RUN_ATTEMPT"]
        #expect(withheld(.shell("./ci.sh")) == numbers.union(["PIPECTL_CHANGE", "SOURCE_DATE_EPOCH"]))
        #expect(withheld(.shell("echo $PIPECTL_CHANGE")) == numbers.union(["SOURCE_DATE_EPOCH"]))
        #expect(withheld(.closure) == numbers.union(["SOURCE_DATE_EPOCH"]), "its context says the same")
        #expect(withheld(.shell("./ci.sh")) { $0.isNeverProved = true } == nil, "it may have all")
    }

    @Test func `two steps never share a key`() {
        func key(_ name: String, _ action: PlannedStep.Action, in workflow: String = "w") -> StepKey? {
            KeyedPlan(Plan(workflow: workflow, steps: [PlannedStep(name: name, action: action)]), Self.facts())[name]
        }
        #expect(key("a", .shell("make")) != key("b", .shell("make")), "PIPECTL_STEP tells them")
        #expect(key("a", .closure) != key("b", .closure))
        #expect(key("a", .closure, in: "w") != key("a", .closure, in: "other"), "another body under the same name")
        #expect(key("a", .shell("make"), in: "w") == key("a", .shell("make"), in: "other"))
    }

    @Test func `facts that do not affect the result are not in the key`() {
        #expect(Self.key() == Self.key { $0.retry = RetryPolicy(count: 2) })
        #expect(Self.key { $0.allowsFailure = true } == Self.key())
        #expect(Self.key { $0.isIdempotent = true } == Self.key())
    }

    @Test func `borders between texts can't move`() {
        let one = Self.key(action: .command(["a", "bc"]))
        #expect(one != Self.key(action: .command(["ab", "c"])))
        #expect(Self.key { $0.environment = ["A": "1", "B": "2"] } != Self.key { $0.environment = ["A": "1B2"] })
    }

    @Test func `a step's key contains those of the steps it needs`() throws {
        func plan(_ first: String) -> KeyedPlan {
            let a = PlannedStep(name: "a", action: .shell(first))
            let b = PlannedStep(name: "b", action: .shell("b"), needs: ["a"])
            // Listed before the steps that it needs.
            return KeyedPlan(
                Plan(workflow: "w", steps: [PlannedStep(name: "c", action: .shell("c"), needs: ["b"]), b, a]),
                Self.facts())
        }
        let (one, two) = (plan("a"), plan("other"))
        #expect(one["b"] != two["b"] && one["c"] != two["c"])
        #expect(try #require(two["c"]).differences(from: #require(one["c"])) == [.needs])
        #expect(one["c"]?.definition == two["c"]?.definition, "its own declaration is the same")
        #expect(plan("a")["c"] == one["c"])
    }

    /// `use` needs `build`, which needs `fetch`; only its own inputs count of the tree; `after` needs `use`.
    struct Chain {
        var steps = ["fetch", "build", "use", "after"].map { PlannedStep(name: $0, action: .shell("./\($0)")) }
        var facts = StepKeyTests.facts()

        init() {
            for (number, input) in ["lock", "src/**", "tests", "docs"].enumerated() {
                steps[number].inputs = [input]
                if number > 0 { steps[number].needs = [steps[number - 1].name] }
                facts.inputs[[input]] = KeyFacts.Inputs(digest: "\(input) 1")
            }
            steps[2].inputsCoverNeeds = true
        }

        mutating func changeFiles(_ input: String) { facts.inputs[[input]] = KeyFacts.Inputs(digest: "other") }

        static func keyed(_ change: (inout Chain) -> Void = { _ in }) -> KeyedPlan {
            var chain = Chain()
            change(&chain)
            // In an order in which no step comes after those that it needs.
            return KeyedPlan(Plan(workflow: "w", steps: chain.steps.reversed()), chain.facts)
        }
    }

    @Test(arguments: ["lock", "src/**"])
    func `files that only needed steps read are not in the key of a step that covers them`(input: String) throws {
        let (before, after) = (Chain.keyed(), Chain.keyed { $0.changeFiles(input) })
        let key = try #require(before["use"])
        #expect(after["use"] == key)
        #expect(before["build"] != after["build"])
        let (old, new) = try (#require(before["after"]), #require(after["after"]))
        #expect(new.differences(from: old) == [.needs], "it covers nothing, and all of that is in its workspace")
    }

    struct Other: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var part: StepKey.Part
        var change: @Sendable (inout Chain) -> Void
    }

    @Test(arguments: [
        Other(testDescription: "its own files", part: .inputs) { $0.changeFiles("tests") },
        Other(testDescription: "the command of a need", part: .needs) { $0.steps[1].action = .shell("./build -O") },
        Other(testDescription: "a variable of a need's need", part: .needs) { $0.steps[0].environment = ["A": "1"] },
        Other(testDescription: "a limit of a need's need", part: .needs) { $0.steps[0].limits.memory = 1 << 30 },
        Other(testDescription: "a need less", part: .needs) { $0.steps[1].needs = [] },
        Other(testDescription: "a need more", part: .needs) { chain in
            chain.steps.append(PlannedStep(name: "more", action: .shell("true")))
            chain.steps[1].needs.append("more")
        },
        Other(testDescription: "it covers nothing", part: .needs) { $0.steps[2].inputsCoverNeeds = false },
    ])
    func allElseOfItsNeedsIsInTheKeyOfAStepThatCoversThem(other: Other) throws {
        let (before, after) = try (#require(Chain.keyed()["use"]), #require(Chain.keyed(other.change)["use"]))
        #expect(after.differences(from: before) == [other.part])
        #expect(after.value != before.value)
    }

    @Test func `a step that covers its needs is run if they can't be proved`() {
        let never = Chain.keyed { $0.steps[0].isNeverProved = true }
        #expect(never.standings["use"] == .never("it needs \"build\", which can't be proved"))
        #expect(
            Chain.keyed()["use"]?.definition != Chain.keyed { $0.steps[2].inputsCoverNeeds = false }["use"]?.definition,
            "one that is not believed is believed when it is declared in the other way")
    }

    @Test func `steps before a gate are covered as well`() throws {
        func gated(_ input: String) -> KeyedPlan {
            Chain.keyed { chain in
                (chain.steps[1].action, chain.steps[1].inputs) = (.approval, [])
                chain.changeFiles(input)
            }
        }
        let (before, after) = (gated("none"), gated("lock"))
        let key = try #require(before["use"])
        #expect(after["use"] == key)
        #expect(before["after"] != after["after"])
    }

    @Test(arguments: [false, true]) func `a chain of thousands of steps needs no deep recursion`(coversNeeds: Bool) {
        let steps = (0..<9_999).map { number in
            var step = PlannedStep(
                name: "\(number)", action: .shell("true"), needs: number < 9_998 ? ["\(number + 1)"] : [])
            step.inputsCoverNeeds = coversNeeds
            return step
        }
        #expect(KeyedPlan(Plan(workflow: "w", steps: steps), Self.facts())["0"] != nil)
    }

    struct Obstacle: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var change: @Sendable (inout PlannedStep) -> Void

        init(_ says: String, _ change: @escaping @Sendable (inout PlannedStep) -> Void) {
            (testDescription, self.change) = (says, change)
        }
    }

    @Test(arguments: [
        Obstacle("secrets") { $0.secrets = [SecretUse("TOKEN")] }, Obstacle("network") { $0.network = .allowed },
        Obstacle(".neverProved()") { $0.isNeverProved = true },
        Obstacle("depends on the results of other steps") { $0.condition = .always },
        Obstacle("depends on the results of other steps") { $0.condition = .onFailure },
        Obstacle("waits for approval") { $0.action = .approval },
        Obstacle("no file matches") { $0.inputs = ["none/**"] },
        Obstacle("could not be read") { $0.inputs = ["unknown"] },
    ])
    func noResultStandsForSomeSteps(obstacle: Obstacle) {
        var facts = Self.facts()
        facts.inputs[["none/**"]] = KeyFacts.Inputs(digest: "", isEmpty: true)
        var step = PlannedStep(name: "s", action: .shell("make"))
        obstacle.change(&step)
        let after = PlannedStep(name: "after", action: .shell("b"), needs: ["s"])
        let plan = KeyedPlan(Plan(workflow: "w", steps: [step, after]), facts)
        guard case .never(let why) = plan.standings["s"] else {
            Issue.record("it has a key")
            return
        }
        #expect(why.contains(obstacle.testDescription))
        if step.action == .approval {
            #expect(plan["after"] != nil, "a gate leaves nothing that a result depends on")
        } else {
            #expect(plan.standings["after"] == .never("it needs \"s\", which can't be proved"))
        }
    }

    @Test func `in a release only idempotent steps with declared inputs are proved`() {
        let facts = Self.facts { $0.isRelease = true }
        #expect(Self.key(facts) == nil)
        #expect(Self.key(facts) { $0.inputs = ["src/**"] } == nil, "a revert would skip it")
        #expect(Self.key(facts) { $0.isIdempotent = true } == nil)
        let safe = { (step: inout PlannedStep) in (step.inputs, step.isIdempotent) = (["src/**"], true) }
        #expect(Self.key(facts, safe) != nil)
        #expect(Self.key(facts, safe) == Self.key { $0.inputs = ["src/**"] })
        for more: (inout PlannedStep) -> Void in [{ $0.secrets = [SecretUse("T")] }, { $0.network = .allowed }] {
            #expect(
                Self.key(facts) {
                    safe(&$0)
                    more(&$0)
                } == nil)
        }
    }

    @Test func `a step that can write to the machine is proved only with inputs and outputs`() {
        let facts = Self.facts { $0.canWriteOutside = true }
        #expect(Self.key(facts) == nil)
        #expect(Self.key(facts) { $0.inputs = ["src/**"] } == nil)
        #expect(Self.key(facts) { $0.outputs = ["out/**"] } == nil)
        #expect(Self.key(facts) { ($0.inputs, $0.outputs) = (["src/**"], ["out/**"]) } != nil)
        #expect(Self.key(facts) { ($0.inputs, $0.leavesNothing) = (["src/**"], true) } != nil)
    }

    @Test func `tracked files at the outputs are in the key`() throws {
        func key(_ tracked: KeyFacts.Tracked?) -> StepKey? {
            Self.key(Self.facts { $0.tracked[["out/**"]] = tracked }) { step in
                (step.inputs, step.outputs) = (["src/**"], ["out/**"])
            }
        }
        let nothing = try #require(key(KeyFacts.Tracked(digest: "none", files: [])))
        let one = try #require(key(KeyFacts.Tracked(digest: "one", files: ["out/a"])))
        #expect(one.differences(from: nothing) == [.inputs])
        let two = try #require(key(KeyFacts.Tracked(digest: "two", files: ["out/a"])))
        #expect(two.differences(from: one) == [.inputs])
        #expect(one.definition == nothing.definition)
        #expect(key(nil) == nil, "what could not be read is no proof")
    }

    @Test func `a step that is not trusted has no key until its declaration changes`() throws {
        let definition = try #require(Self.key()).definition
        let facts = Self.facts { $0.distrusted = [definition] }
        #expect(Self.key(facts) == nil)
        #expect(
            Self.key(Self.facts { ($0.distrusted, $0.inputs[[]]) = ([definition], .init(digest: "tree 9")) }) == nil)
        #expect(Self.key(facts, action: .shell("make check")) != nil)
        #expect(Self.key(facts) { $0.inputs = ["src/**"] } != nil)
    }
}
