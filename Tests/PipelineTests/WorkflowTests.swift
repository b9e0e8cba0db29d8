import Foundation
import Pipeline
import PlanRules
import Testing

/// The workflow language, as workflows use it.
@Suite struct WorkflowTests {
    private var context: PlanContext {
        PlanContext(repository: "r", event: .pullRequest, commit: "c", ref: "refs/pull/1/head", branch: "main")
    }

    @Test func `needs become names in the plan`() {
        let workflow = Workflow("test", on: .pullRequest(into: "main")) {
            let resolve = Step("resolve", run: "swift package resolve")
            let build = Step("build", needs: resolve, run: "swift build")
            resolve
            build
            Step("tests", needs: resolve, build, build, command: ["swift", "test", "a b"])
            Step("size", needs: [build]) { _ in }
        }
        let plan = workflow.plan(for: context)
        #expect(plan.steps.map(\.needs) == [[], ["resolve"], ["resolve", "build"], ["build"]])
        #expect(
            plan.steps.map(\.commandLine) == [
                "swift package resolve", "swift build", "swift test 'a b'", "(Swift closure)",
            ])
        #expect(plan.validate().isEmpty)
        #expect(!workflow.declaration.readsContext)
    }

    @Test func `every modifier is in the plan`() throws {
        let simulator = Resource("simulator", capacity: 2)
        let version = Value<String>("version")
        let before = Step("before", run: "true").publishes(version)
        let step = Step("all", needs: before, run: "true")
            .timeout(.minutes(2)).retries(3, on: .exitCodes(75, 111), backoff: .exponential(from: .seconds(1)))
            .allowFailure().always().environment(["A": "1", "B": "1"]).environment(["B": "2"])
            .workingDirectory("Sub").testResults(.junit("a.xml"), .swiftPMConsole).testResults(
                .swiftTestingEvents("e.json")
            )
            .artifacts("dist/*").uses(simulator).network(.allowed).secrets("TOKEN").secrets("KEY", as: .environment)
            .inputs("Sources/**").outputs(
                "dist/**"
            )
            .reads(version)
        let planned = step.planned
        #expect(planned.timeout == 120)
        #expect(planned.retry.count == 3)
        #expect(planned.retry.condition == .exitCodes([75, 111]))
        #expect((2...5).map(planned.retry.backoff.pause) == [1, 2, 4, 8])
        #expect(planned.allowsFailure)
        #expect(planned.condition == .always)
        #expect(planned.environment == ["A": "1", "B": "2"])
        #expect(planned.workingDirectory == "Sub")
        #expect(planned.testResults == [.junit("a.xml"), .swiftPMConsole, .swiftTestingEvents("e.json")])
        #expect(planned.artifacts == ["dist/*"])
        #expect(planned.resources == [ResourceUse(resource: simulator, units: 1)])
        #expect(planned.network == .allowed)
        #expect(planned.secrets == [SecretUse("TOKEN"), SecretUse("KEY", as: .environment)])
        #expect(planned.inputs == ["Sources/**"])
        #expect(planned.outputs == ["dist/**"])
        #expect(planned.reads == ["version"])
        #expect(Step("x", run: "x").onFailure().planned.condition == .onFailure)
        let plan = Plan(workflow: "w", failFast: true, steps: [before.planned, planned])
        #expect(plan.validate().isEmpty)
        // What is printed by one program and read by another one is the same plan.
        #expect(try JSONDecoder().decode(Plan.self, from: JSONEncoder().encode(plan)) == plan)
    }

    @Test func `a pause is never longer than its limit`() {
        let backoff = Backoff.exponential(from: .seconds(10), upTo: .seconds(60))
        #expect((1...1_000).map(backoff.pause).max() == 60)
        #expect(Backoff.constant(.milliseconds(1_500)).pause(beforeAttempt: 7) == 1.5)
    }

    @Test func `if and for shape the graph`() {
        let deploy = Parameter("deploy", default: false)
        let shards = Parameter("shards", default: 2)
        let target = Parameter("target", choices: ["linux", "macos"], default: "linux")
        let workflow = Workflow("test", on: .manual, parameters: [deploy, shards, target]) { context in
            print("planning for", context.commit)
            let build = Step("build", run: "make \(context[target])")
            build
            for number in 1...context[shards] { Step("tests \(number)", needs: build, run: "make test-\(number)") }
            if context[deploy] { Step("deploy", needs: build, run: "make deploy") }
            switch context.event {
            case .pullRequest: Step("comment", run: "true")
            default: [Step("one", run: "true"), Step("two", run: "true")]
            }
            if context.changes("docs/**") { Step("docs", run: "make docs") } else { Step("no docs", run: "true") }
        }
        #expect(workflow.declaration.readsContext)
        #expect(workflow.declaration.parameters.map(\.kind) == [.bool, .integer, .choice])
        var context = context
        context.change = Change(name: "1", head: "h", target: "main", targetCommit: "t", title: "", author: "")
        context.changedFiles = [ChangedFile(status: .added, path: "docs/a.md")]
        #expect(workflow.plan(for: context).steps.map(\.name) == ["build", "tests 1", "tests 2", "comment", "docs"])
        context.event = .manual
        context.changedFiles = []
        context.parameters = ["deploy": "yes", "shards": "1", "target": "macos"]
        let plan = workflow.plan(for: context)
        #expect(plan.steps.map(\.name) == ["build", "tests 1", "deploy", "one", "two", "no docs"])
        #expect(plan.steps[0].commandLine == "make macos")
    }

    @Test func `a thousand steps in a loop are a plan`() {
        let workflow = Workflow("many") {
            let first = Step("first", run: "true")
            first
            for number in 0..<1_000 { Step("step \(number)", needs: first, run: "true") }
        }
        let plan = workflow.plan(for: context)
        #expect(plan.steps.count == 1_001)
        #expect(plan.validate().isEmpty)
    }

    @Test func `the declaration has the workflow's policies`() throws {
        let step = Step("s", run: "true")
        let workflow = Workflow(
            "w", on: .pullRequest(into: "main", ignoringMessages: ["[skip ci]"]), .merge(into: "main", "release/*")
        ) { step }
        .concurrency(.queue(max: 3)).failFast().retestWhenTargetMoves()
        let declaration = workflow.declaration
        #expect(declaration.concurrency == .queue(max: 3))
        #expect(declaration.failFast)
        #expect(declaration.retestsStaleChanges)
        #expect(workflow.plan(for: context).failFast)
        #expect(!declaration.runsAtMostOnce)
        #expect(Workflow("r", on: .merge(into: "main")) { step }.declaration.runsAtMostOnce)
        #expect(Workflow("t", on: .tag(matching: "v*")) { step }.declaration.runsAtMostOnce)
        #expect(!Workflow("m") { step }.declaration.runsAtMostOnce)
        let data = try JSONEncoder().encode(ProgramDescription(workflows: [declaration]))
        #expect(try JSONDecoder().decode(ProgramDescription.self, from: data).workflows == [declaration])
    }

    @Test(arguments: [
        (Trigger.pullRequest(into: "main"), ["a"], true),
        (.pullRequest(into: "main", paths: ["Sources/**"]), ["docs/a"], false),
        (.pullRequest(into: "main", paths: ["Sources/**"]), ["docs/a", "Sources/b"], true),
        (.push(to: "*", ignoring: ["docs/**", "*.md"]), ["docs/a", "README.md"], false),
        (.push(to: "*", ignoring: ["docs/**"]), ["docs/a", "x"], true),
        (.merge(into: "main", paths: ["**/*.swift"], ignoring: ["Tests/**"]), ["Tests/a.swift"], false),
        (.merge(into: "main", paths: ["**/*.swift"], ignoring: ["Tests/**"]), ["Tests/a.swift", "b.swift"], true),
        (.pullRequest(into: "main"), [], true),
    ])
    func `path filters decide whether a trigger matches`(trigger: Trigger, paths: [String], expected: Bool) {
        #expect((trigger.objection(to: TriggerFacts(branch: "main", paths: { paths })) == nil) == expected)
    }

    @Test func `branch globs decide whether a trigger matches`() {
        #expect(Trigger.push(to: "main", "release/*").matches(branch: "release/1.2"))
        #expect(!Trigger.push(to: "main", "release/*").matches(branch: "feature"))
        #expect(!Trigger.manual.matches(branch: "main"))
    }

    @Test(arguments: [
        (ParameterDeclaration.Kind.integer, "12", "12" as String?), (.integer, "012", "12"), (.integer, "1.5", nil),
        (.integer, "", nil), (.bool, "YES", "true"), (.bool, "0", "false"), (.bool, "maybe", nil), (.string, "", ""),
        (.choice, "a", "a"), (.choice, "c", nil), (.string, nil as String? ?? "x", "x"),
    ])
    func valuesAreReadByType(kind: ParameterDeclaration.Kind, given: String, expected: String?) {
        let declaration =
            switch kind {
            case .integer: Parameter<Int>("p").declaration
            case .bool: Parameter<Bool>("p").declaration
            case .string: Parameter<String>("p").declaration
            case .choice: Parameter("p", choices: ["a", "b"]).declaration
            }
        #expect((try? declaration.value(given: given).get()) == expected)
        if expected == nil {
            guard case .failure(let problem) = declaration.value(given: given) else { return }
            #expect(problem.description.contains("p is \"\(given)\"; it takes"))
        }
    }

    @Test func `a required parameter says how to give it`() {
        guard case .failure(let problem) = Parameter<Int>("count").declaration.value(given: nil) else {
            Issue.record("a required parameter has no value of its own")
            return
        }
        #expect(problem.description == "count is required: add --param count=…")
        #expect(StepVariable.parameter("dry-run") == "PIPECTL_PARAM_DRY_RUN")
    }
}
