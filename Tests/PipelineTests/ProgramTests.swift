import TestBasics
import Foundation
import Pipeline
import PlanRules
import Testing

/// The requests of ``ProgramRequest`` to a program that was compiled from a workflow.
@Suite(.timeLimit(.minutes(3))) struct ProgramTests {
    private static let text = #"""
        import Pipeline

        let version = Value<[String: Int]>("version")
        let count = Parameter("count", default: 1)
        let hidden = Parameter<Int>("hidden")

        struct Odd: Error { var number = 7 }

        let test = Workflow("test", on: .manual, parameters: [count]) { context in
            let publish = Step("publish") { step in try step.publish(["major": step[count]], as: version) }.publishes(version)
            Step("read", needs: publish) { step in
                let value = try step.value(of: version)
                step.log("major is \(value["major"] ?? -1)")
            }
            .reads(version)
            Step("passes") { step in
                step.log("attempt \(step.attempt) of \(step.context.commit)")
                try step.run("pwd -P; echo made > made.txt")
                try step.run(["/bin/echo", "a  b", "$HOME", "it's"])
                step.log("size \(try step.size(of: "made.txt")), text \(try step.text(of: "made.txt"))")
                let listed = try step.output(of: "echo out; echo err >&2; ls")
                step.log("listed \(listed.split(separator: "\n"))")
            }
            Step("fails") { _ in throw StepFailure("the tool is too large") }
            Step("odd") { _ in throw Odd() }
            Step("exit code") { step in try step.run("echo before; exit 3; echo after") }
            Step("first failure") { step in try step.run("false; echo after") }
            Step("signal") { step in try step.run("kill -9 $$") }
            Step("no program") { step in try step.run(["/nonexistent/tool"]) }
            Step("nothing") { step in try step.run([]) }
            Step("no file") { step in _ = try step.size(of: "none") }
            Step("failing output") { step in _ = try step.output(of: "echo x; exit 4") }
            Step("undeclared publish") { step in try step.publish(["a": 1], as: version) }
            Step("undeclared read") { step in _ = try step.value(of: version) }
            Step("hidden parameter") { step in step.log("\(step[hidden])") }
            for number in 0..<context[count] { Step("part \(number)") { step in step.log("part \(number)") } }
            Step("command", run: "true")
        }

        @main struct Workflows: WorkflowSet {
            static let workflows = [test]
            static let landing = Landing(into: "main", requires: [test], method: .merge).batches(of: 8)
        }
        """#

    private func withProgram(_ body: (CompiledWorkflow) async throws -> Void) async throws {
        let workflow = try CompiledWorkflow()
        let compiled = try await workflow.compile(ProgramTests.text)
        try #require(compiled.code == 0, "\(compiled.output)")
        try await body(workflow)
    }

    @Test func `the program lists its workflows and plans them`() async throws {
        try await withProgram { workflow in
            let answer = "\(workflow.folder)/answer.json"
            #expect(try await workflow.ask(.describe, "--output", answer).code == 0)
            let described = try JSONDecoder().decode(
                ProgramDescription.self, from: Data(contentsOf: URL(fileURLWithPath: answer)))
            #expect(described.workflows.map(\.name) == ["test"])
            #expect(described.landings?.map(\.branch) == ["main"])
            #expect(described.landings?.first?.batchSize == 8)
            #expect(described.workflows[0].readsContext)
            #expect(described.workflows[0].parameters.map(\.name) == ["count"])
            let ended = try await workflow.ask(
                .plan, "--workflow", "test", "--context", "\(workflow.folder)/context.json", "--output", answer)
            #expect(ended.code == 0)
            let plan = try JSONDecoder().decode(Plan.self, from: Data(contentsOf: URL(fileURLWithPath: answer)))
            #expect(plan.validate().isEmpty)
            #expect(plan.steps.filter { $0.name.hasPrefix("part") }.count == 3)
            #expect(plan.steps.last?.action == .shell("true"))
        }
    }

    @Test func `a closure has the run's context and runs in the workspace`() async throws {
        try await withProgram { workflow in
            let ended = try await workflow.step("passes", attempt: 2)
            #expect(ended.code == 0)
            let lines = ended.output.split(separator: "\n").map(String.init)
            #expect(lines.first == "attempt 2 of 0123")
            #expect(lines.dropFirst().first?.hasSuffix("/workspace") == true)
            #expect(lines.contains("a  b $HOME it's"))
            #expect(lines.contains("size 5, text made"))
            #expect(lines.contains("err"))
            #expect(lines.last == #"listed ["out", "made.txt"]"#)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(workflow.folder)/out").isEmpty)
            #expect(try await workflow.step("part 2").output == "part 2\n")
        }
    }

    @Test func `a published value can be read by another step`() async throws {
        try await withProgram { workflow in
            #expect(try await workflow.step("publish").code == 0)
            let file = "\(workflow.folder)/out/version.json"
            #expect(try String(contentsOfFile: file, encoding: .utf8) == #"{"major":3}"#)
            try FileManager.default.copyItem(atPath: file, toPath: "\(workflow.folder)/in/version.json")
            #expect(try await workflow.step("read").output == "major is 3\n")
        }
    }

    @Test func `a failed closure prints its sentence with file and line`() async throws {
        try await withProgram { workflow in
            for (step, start, end) in [
                ("fails", "", "workflows/test.swift:24: error: the tool is too large\n"),
                ("odd", "", "error: Odd(number: 7)\n"),
                ("exit code", "before\n", "`echo before; exit 3; echo after` ended with exit code 3\n"),
                ("first failure", "", "`false; echo after` ended with exit code 1\n"),
                ("signal", "", "`kill -9 $$` was ended by signal 9\n"),
                ("no program", "", "`/nonexistent/tool` can't be started: No such file or directory\n"),
                ("nothing", "", "the command is empty\n"),
                ("no file", "", "none can't be read: No such file or directory\n"),
                ("failing output", "", "`echo x; exit 4` ended with exit code 4\n"),
                ("undeclared publish", "", "publishes \"version\" without declaring it; add .publishes(…)\n"),
                ("undeclared read", "", "reads \"version\" without declaring it; add .reads(…)\n"),
                ("command", "", "step \"command\" is not a closure of this workflow when planned for this run\n"),
                (
                    "no such step",
                    "", "step \"no such step\" is not a closure of this workflow when planned for this run\n"
                ),
            ] {
                let ended = try await workflow.step(step)
                #expect(ended.code == 1, "\(step)")
                #expect(ended.output.hasPrefix(start) && ended.output.hasSuffix(end), "\(step): \(ended.output)")
            }
        }
    }

    @Test func `reading an undeclared parameter names it`() async throws {
        try await withProgram { workflow in
            let ended = try await workflow.step("hidden parameter")
            #expect(ended.code != 0)
            #expect(ended.output.contains("parameter \"hidden\" is read but not declared: add it to `parameters:`"))
        }
    }

    @Test func `an invalid request gets a sentence as its answer`() async throws {
        try await withProgram { workflow in
            let alone = try await workflow.run(["\(workflow.folder)/program"], in: workflow.folder)
            #expect(alone.code == 1)
            #expect(alone.output.contains("pipectl runs it"))
            #expect(try await workflow.ask(.describe).output.contains("describe needs --output"))
            let unknown = try await workflow.ask(
                .plan, "--workflow", "none", "--context", "\(workflow.folder)/context.json", "--output", "x")
            #expect(unknown.code == 1)
            #expect(unknown.output.contains("no workflow is named \"none\""))
            #expect(
                try await workflow.ask(.plan, "--workflow", "test", "--context", "/nonexistent", "--output", "x").code
                    == 1)
        }
    }

    // MARK: - The compiler's answers

    struct Slip: CustomTestStringConvertible {
        var testDescription: String
        var sentence: String
        init(_ code: String, _ sentence: String) { (testDescription, self.sentence) = (code, sentence) }
    }

    @Test(arguments: [
        Slip(#""swift build""#, #"a workflow holds steps: write Step("name", run: "…")"#),
        Slip(#"Workflow("x") { Step("a", run: "a") }"#, "a workflow holds steps, not workflows"),
        Slip(#"Step("a", needs: "build", run: "make")"#, "needs takes steps, not names"),
        Slip(#"Step("a", needs: ["build"], run: "make")"#, "needs takes steps, not names"),
        Slip(#"Step("a", run: ["make", "test"])"#, "an argument vector is command:"),
        Slip(#"Step("a", command: "make test")"#, "a line for the shell is run:"),
    ])
    func `a likely mistake gets our own compiler message`(slip: Slip) async throws {
        let workflow = try CompiledWorkflow()
        let ended = try await workflow.compile(
            "import Pipeline\nlet test = Workflow(\"test\") {\n    \(slip.testDescription)\n}\n", typecheckOnly: true)
        #expect(ended.code != 0)
        let errors = ended.output.split(separator: "\n").filter {
            $0.hasPrefix("workflows/test.swift") && $0.contains("error:")
        }
        #expect(
            errors.contains { $0.hasPrefix("workflows/test.swift:3:") && $0.contains(slip.sentence) }, "\(ended.output)"
        )
        #expect(errors.count == 1, "\(ended.output)")
    }

    /// ``StepsBuilder`` says how the time grows. This many lines are an ordinary large workflow.
    @Test func `200 steps in one block compile within a minute`() async throws {
        let workflow = try CompiledWorkflow()
        let lines = (0..<200).map {
            #"    Step("step \#($0)", needs: first, run: "echo \#($0)").timeout(.minutes(5)).retries(2)"#
        }
        let text =
            "import Pipeline\nlet test = Workflow(\"test\") {\n    let first = Step(\"first\", run: \"true\")\n    first\n"
        let time = try await ContinuousClock().measure {
            let ended = try await workflow.compile(text + lines.joined(separator: "\n") + "\n}\n", typecheckOnly: true)
            #expect(ended.code == 0, "\(ended.output)")
        }
        #expect(time < .seconds(60), "\(time)")
    }
}
