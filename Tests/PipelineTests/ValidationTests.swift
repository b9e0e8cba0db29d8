import Pipeline
import PlanRules
import Testing

/// Every rule, with a plan that breaks only this rule.
@Suite struct ValidationTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var rule: String
        var testDescription: String
        var steps: [PlannedStep]
        /// A part of the finding's sentence.
        var says: String

        init(_ rule: String, _ name: String, says: String, _ steps: [PlannedStep]) {
            (self.rule, testDescription, self.says, self.steps) = (rule, name, says, steps)
        }

        init(_ rule: String, _ name: String, says: String, _ change: (inout PlannedStep) -> Void) {
            var step = PlannedStep(name: "step", action: .shell("true"))
            change(&step)
            self.init(rule, name, says: says, [step])
        }
    }

    private static func step(_ name: String, needs: [String] = []) -> PlannedStep {
        PlannedStep(name: name, action: .shell("true"), needs: needs)
    }

    private static func value(
        _ name: String, needs: [String] = [], publishes: [String] = [], reads: [String] = []
    ) -> PlannedStep {
        var step = step(name, needs: needs)
        (step.publishes, step.reads) = (publishes, reads)
        return step
    }

    private static func uses(_ name: String, _ uses: [(String, Int, Int)]) -> PlannedStep {
        var step = step(name)
        step.resources = uses.map { ResourceUse(resource: Resource($0.0, capacity: $0.1), units: $0.2) }
        return step
    }

    static let cases: [Case] = [
        Case("empty-workflow", "no step", says: "no steps", []),
        Case("empty-workflow", "too many", says: "10,000", (0...10_000).map { step("s\($0)") }),
        Case("step-name", "empty name", says: "empty") { $0.name = "" },
        Case("step-name", "slash", says: "U+2F") { $0.name = "a/b" },
        Case("step-name", "line end", says: "U+A") { $0.name = "a\nb" },
        Case("step-name", "escape", says: "U+1B") { $0.name = "a\u{1b}[31m" },
        Case("step-name", "right to left", says: "U+202E") { $0.name = "a\u{202e}b" },
        Case("step-name", "line separator", says: "U+2028") { $0.name = "a\u{2028}b" },
        Case("step-name", "like an option", says: "starts with \"-\"") { $0.name = "--force" },
        Case("step-name", "hidden", says: "starts with \".\"") { $0.name = ".x" },
        Case("step-name", "space at the end", says: "starts or ends") { $0.name = "x " },
        Case("step-name", "long", says: "200 bytes") { $0.name = String(repeating: "x", count: 201) },
        Case("duplicate-step", "twice", says: "2 different steps", [step("a"), step("a")]),
        Case("unlisted-need", "not in the plan", says: "\"gone\"", [step("a", needs: ["gone"])]),
        Case("cycle", "itself", says: "a → a", [step("a", needs: ["a"])]),
        Case(
            "cycle", "three", says: " → ", [step("a", needs: ["c"]), step("b", needs: ["a"]), step("c", needs: ["b"])]),
        Case("glob", "absolute input", says: "starts with /") { $0.inputs = ["/etc/passwd"] },
        Case("glob", "input that leaves", says: "..") { $0.inputs = ["../x"] },
        Case("glob", "empty input", says: "empty") { $0.inputs = [""] },
        Case("proof", "never and inputs", says: ".neverProved()") { ($0.inputs, $0.isNeverProved) = (["a"], true) },
        Case("proof", "nothing and outputs", says: "has none") { ($0.outputs, $0.leavesNothing) = (["a"], true) },
        Case("proof", "only inputs and outputs", says: "without outputs") {
            ($0.inputs, $0.inputsCoverNeeds, $0.outputs) = (["src"], true, ["out"])
        },
        Case("proof", "only inputs and values without a word", says: "values") {
            ($0.inputs, $0.inputsCoverNeeds) = (["src"], true)
            $0.action = .shell("cat $PIPECTL_VALUES_IN/v.json")
        },
        Case(
            "proof", "only inputs and values", says: "values",
            [
                value("a", publishes: ["v"]),
                {
                    var step = value("b", needs: ["a"], reads: ["v"])
                    (step.inputs, step.inputsCoverNeeds) = (["src"], true)
                    return step
                }(),
            ]),
        Case("proof", "input in .git", says: ".git") { $0.inputs = [".git/HEAD"] },
        Case("proof", "output in .git", says: ".git") { $0.outputs = [".git"] },
        Case("glob", "artifact", says: "starts with /") { $0.artifacts = ["/etc/*"] },
        Case("glob", "input", says: "..") { $0.inputs = ["../*"] },
        Case("glob", "output", says: "closed") { $0.outputs = ["{a"] },
        Case("glob", "results", says: "empty") { $0.testResults = [.junit("")] },
        Case("glob", "events", says: "closed") { $0.testResults = [.swiftTestingEvents("[")] },
        Case("command", "blank line", says: "empty") { $0.action = .shell(" \n ") },
        Case("command", "no arguments", says: "empty") { $0.action = .command([]) },
        Case("command", "no program", says: "empty") { $0.action = .command(["", "x"]) },
        Case("command", "NUL", says: "NUL") { $0.action = .shell("a\0b") },
        Case("command", "NUL argument", says: "NUL") { $0.action = .command(["a", "b\0"]) },
        Case("command", "long", says: "script") { $0.action = .shell(String(repeating: "x", count: 120_001)) },
        Case("limits", "no time", says: "time-out") { $0.timeout = 0 },
        Case("limits", "less than no time", says: "time-out") { $0.timeout = -1 },
        Case("limits", "for ever", says: "time-out") { $0.timeout = .infinity },
        Case("limits", "not a number", says: "time-out") { $0.timeout = .nan },
        Case("limits", "retries", says: "101") { $0.retry.count = 101 },
        Case("limits", "negative retries", says: "-1") { $0.retry.count = -1 },
        Case("limits", "pause", says: "pause") { $0.retry.backoff = .constant(.hours(25)) },
        Case("limits", "shrinking pause", says: "pause") { $0.retry.backoff.factor = 0.5 },
        Case("folder", "absolute", says: "/tmp") { $0.workingDirectory = "/tmp" },
        Case("folder", "outside", says: "below the workspace") { $0.workingDirectory = "a/../../b" },
        Case("folder", "empty", says: "below the workspace") { $0.workingDirectory = "" },
        Case("environment", "empty name", says: "can't be set") { $0.environment = ["": "x"] },
        Case("environment", "equals", says: "can't be set") { $0.environment = ["A=B": "x"] },
        Case("environment", "NUL", says: "can't be set") { $0.environment = ["A": "\0"] },
        Case("environment", "ours", says: "reserved for pipectl") { $0.environment = ["PIPECTL_ATTEMPT": "9"] },
        Case("secret", "equals", says: "like DEPLOY_TOKEN") { $0.secrets = [SecretUse("A=B")] },
        Case("secret", "small letters", says: "like DEPLOY_TOKEN") { $0.secrets = [SecretUse("token")] },
        Case("secret", "a path", says: "like DEPLOY_TOKEN") { $0.secrets = [SecretUse("../A")] },
        Case("secret", "long", says: "at most 100") {
            $0.secrets = [SecretUse(String(repeating: "A", count: 101))]
        },
        Case("secret", "ours", says: "reserved for pipectl") { $0.secrets = [SecretUse("PIPECTL_HOME")] },
        Case("secret", "of the system", says: "tools need") { $0.secrets = [SecretUse("PATH", as: .environment)] },
        Case("secret", "twice", says: "twice") { $0.secrets = [SecretUse("A"), SecretUse("A", as: .environment)] },
        Case("secret", "also a variable", says: "A is a variable of the step") {
            $0.secrets = [SecretUse("A", as: .environment)]; $0.environment = ["A": "x"]
        },
        Case("secret", "its file also a variable", says: "A_FILE is a variable of the step") {
            $0.secrets = [SecretUse("A")]; $0.environment = ["A_FILE": "x"]
        },
        Case("secret", "one variable for two", says: "A_FILE; rename one") {
            $0.secrets = [SecretUse("A"), SecretUse("A_FILE", as: .environment)]
        },
        Case("resource", "more than there are", says: "could never start", [uses("a", [("gpu", 1, 2)])]),
        Case("resource", "more in sum", says: "could never start", [uses("a", [("gpu", 2, 1), ("gpu", 2, 2)])]),
        Case("resource", "nothing", says: "the minimum is 1", [uses("a", [("gpu", 1, 0)])]),
        Case(
            "resource", "two capacities", says: "declare it once",
            [uses("a", [("gpu", 1, 1)]), uses("b", [("gpu", 2, 1)])]),
        Case("resource", "name", says: "empty", [uses("a", [("", 1, 1)])]),
        Case("unpublished-value", "nobody", says: "no step publishes", [value("a", reads: ["v"])]),
        Case(
            "unpublished-value", "not needed", says: "does not need",
            [value("a", publishes: ["v"]), value("b", reads: ["v"])]),
        Case(
            "unpublished-value", "needed the other way", says: "does not need",
            [value("a", needs: ["b"], publishes: ["v"]), value("b", reads: ["v"])]),
        Case("unpublished-value", "itself", says: "does not need", [value("a", publishes: ["v"], reads: ["v"])]),
        Case(
            "unpublished-value", "two", says: "a and b", [value("a", publishes: ["v"]), value("b", publishes: ["v"])]),
        Case("unpublished-value", "no file name", says: "U+2F", [value("a", publishes: ["a/v"])]),
        Case("machine", "no CPU", says: "0 CPUs") { $0.machine = MachineNeeds(cpus: 0) },
        Case("machine", "more memory than any", says: "1 PiB") { $0.machine = MachineNeeds(memory: .max) },
        Case("machine", "two systems", says: "linux") { $0.machine = MachineNeeds(traits: [.macOS, .linux]) },
        Case("machine", "constraint", says: "small letters") { $0.machine = MachineNeeds(traits: [.label("a&b")]) },
        Case("machine", "option", says: "begin it") { $0.machine = MachineNeeds(traits: [.label("-x")]) },
        Case("shards", "none", says: "0 steps", shards(0, ["r.xml"])),
        Case("shards", "too many", says: "101 steps", shards(101, ["r-$PIPECTL_SHARD.xml"])),
        Case("shards", "one file", says: "$PIPECTL_SHARD", shards(2, ["r.xml"])),
        Case("shards", "no results", says: ".testResults", shards(2, [])),
        Case("shards", "a list outside", says: "no path", shards(2, ["r-$PIPECTL_SHARD.xml"], list: "../tests")),
        Case(
            "shards", "a list and a retry of tests", says: ".retries(",
            shards(1, ["r.xml"], list: "tests") { $0.testRetry = TestRetry(filter: .names) }),
        Case("shards", "a closure", says: "with a command", shards(2, []) { $0.action = .closure }),
    ]

    private static func shards(
        _ count: Int, _ results: [String], list: String? = nil, _ change: (inout PlannedStep) -> Void = { _ in }
    ) -> [PlannedStep] {
        let workflow = Workflow("w") {
            let step = Step("tests", run: "true")
            results.reduce(list.map { step.shards(count, of: $0) } ?? step.shards(count)) { $0.testResults(.junit($1)) }
        }
        var steps = workflow.plan(
            for: PlanContext(repository: "r", event: .manual, commit: "c", ref: "refs/heads/main")
        ).steps
        for index in steps.indices { change(&steps[index]) }
        return steps
    }

    @Test(arguments: cases) func `each mistake gives exactly its finding`(broken: Case) throws {
        let findings = Plan(workflow: "w", steps: broken.steps).validate()
        #expect(Set(findings.map(\.rule)) == [broken.rule])
        #expect(findings.count == 1)
        let text = try #require(findings.first).description
        #expect(text.contains(broken.says))
        #expect(text.hasPrefix("workflow \"w\""))
        #expect(text.hasSuffix("[\(broken.rule)]"))
    }

    @Test func `every rule for plans has a test case`() {
        let tested = Set(ValidationTests.cases.map(\.rule))
        #expect(
            tested == [
                "empty-workflow", "step-name", "duplicate-step", "unlisted-need", "cycle", "glob", "command", "limits",
                "folder", "environment", "secret", "resource", "unpublished-value", "proof", "machine", "shards",
            ])
    }

    @Test func `all mistakes are reported at once`() {
        var bad = PlannedStep(name: "a", action: .shell(""), needs: ["gone"])
        bad.timeout = -1
        bad.artifacts = ["["]
        bad.workingDirectory = "/"
        bad.environment = ["": ""]
        bad.secrets = [SecretUse("")]
        bad.reads = ["v"]
        let findings = Plan(workflow: "w", steps: [bad, bad]).validate()
        #expect(
            Set(findings.map(\.rule)) == [
                "duplicate-step", "unlisted-need", "command", "limits", "glob", "folder", "environment", "secret",
                "unpublished-value",
            ])
    }

    @Test func `a value may be read through steps in between`() {
        let steps = [
            Self.value("read", needs: ["middle"], reads: ["v"]), Self.value("middle", needs: ["write"]),
            Self.value("write", publishes: ["v"]),
        ]
        #expect(Plan(workflow: "w", steps: steps).validate().isEmpty)
    }

    @Test func `steps behind a cycle are not reported`() {
        let steps = [
            Self.value("a", needs: ["b"]), Self.value("b", needs: ["a"], publishes: ["v"]),
            Self.value("c", needs: ["b"], reads: ["v"]),
        ]
        #expect(Plan(workflow: "w", steps: steps).validate().map(\.rule) == ["cycle"])
    }

    /// The largest plans that are examined in detail: steps in a row, each of which reads all values.
    @Test(.timeLimit(.minutes(1))) func `a large plan is checked in seconds`() {
        var steps = (0..<10_000).map { Self.step("s\($0)", needs: $0 == 0 ? [] : ["s\($0 - 1)"]) }
        for index in steps.indices { steps[index].publishes = ["v\(index)"] }
        for index in steps.indices.dropFirst() { steps[index].reads = ["v\(index - 1)", "v0"] }
        #expect(Plan(workflow: "w", steps: steps).validate().isEmpty)
        steps[0].needs = ["s9999"]
        #expect(Plan(workflow: "w", steps: steps).validate().map(\.rule) == ["cycle"])
    }

    // MARK: - Declarations

    struct Declared: CustomTestStringConvertible {
        var testDescription: String
        var rule: String
        var workflows: [Workflow]
        init(_ name: String, _ rule: String, _ workflows: [Workflow]) {
            (testDescription, self.rule, self.workflows) = (name, rule, workflows)
        }
    }

    private static func workflow(
        _ name: String = "w", _ trigger: Trigger = .manual, _ parameters: [any ParameterDeclaring] = []
    ) -> Workflow {
        Workflow(name, on: trigger, parameters: parameters) { Step("s", run: "true") }
    }

    @Test(arguments: [
        Declared("none", "no-workflows", []),
        Declared("empty name", "workflow-name", [workflow("")]),
        Declared("slash", "workflow-name", [workflow("a/b")]),
        Declared("twice", "duplicate-workflow", [workflow(), workflow()]),
        Declared("branch", "glob", [workflow("w", .pullRequest(into: "["))]),
        Declared("path", "glob", [workflow("w", .push(to: "main", paths: ["/x"]))]),
        Declared("ignored path", "glob", [workflow("w", .push(to: "main", ignoring: [".."]))]),
        Declared("message", "message", [workflow("w", .push(to: "main", messages: [""]))]),
        Declared("ignored message", "message", [workflow("w", .pullRequest(into: "main", ignoringMessages: ["*"]))]),
        Declared("no branch", "trigger", [workflow("w", .merge())]),
        Declared("cron", "schedule", [workflow("w", .schedule("every day"))]),
        Declared("never", "schedule", [workflow("w", .schedule("0 0 31 2 *"))]),
        Declared("parameter name", "parameter", [workflow("w", .manual, [Parameter<Int>("")])]),
        Declared("equals", "parameter", [workflow("w", .manual, [Parameter<Int>("a=b")])]),
        Declared("twice declared", "parameter", [workflow("w", .manual, [Parameter<Int>("a"), Parameter<Bool>("a")])]),
        Declared(
            "one variable", "parameter", [workflow("w", .manual, [Parameter<Int>("a-b"), Parameter<Int>("a_B")])]),
        Declared("no choice", "parameter", [workflow("w", .manual, [Parameter("a", choices: [])])]),
        Declared(
            "wrong default", "parameter", [workflow("w", .manual, [Parameter("a", choices: ["b"], default: "c")])]),
        Declared("empty queue", "concurrency", [workflow().concurrency(.queue(max: 0))]),
    ])
    func aMistakeInADeclarationIsFound(broken: Declared) {
        let findings = WorkflowDeclaration.validate(broken.workflows.map(\.declaration))
        #expect(findings.map(\.rule) == [broken.rule])
        #expect(findings.first?.message.isEmpty == false)
    }

    @Test func `valid declarations have no finding`() {
        let all: [Trigger] = [
            .pullRequest(into: "main"), .merge(into: "main"), .push(to: "**", messages: ["[deploy]"]),
            .tag(matching: "v*"),
            .schedule("0 3 * * 1-5"), .manual,
        ]
        let workflows = all.enumerated().map {
            ValidationTests.workflow("w\($0.offset)", $0.element, [Parameter("p", default: 1)])
        }
        #expect(WorkflowDeclaration.validate(workflows.map(\.declaration)).isEmpty)
    }
}
