import TestBasics
import Foundation
import TestSupport
import Testing

/// `pipectl validate`, which may run beside any other command.
struct ValidateTests {
    @Test(.timeLimit(.minutes(6)))
    func `a workflow that no list names is a warning`() async throws {
        let extra =
            "import Pipeline\n\nlet nightly = Workflow(\"nightly\", on: .manual) { Step(\"a\", run: \"true\") }\n"
        try await Bench.with(Workflows.test("Step(\"a\", run: \"true\")", files: ["workflows/n.swift": extra])) {
            bench in
            let ended = try await bench.pipectl("validate")
            #expect(ended.code == 0, "\(ended.errors)")
            #expect(ended.errors.contains("\"nightly\": workflows/n.swift:3"), "\(ended.errors)")
            let json = try await bench.pipectl("validate", "--json")
            #expect(json.code == 0 && json.output.contains("\"unlisted\""), "\(json.output)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `a bad pattern for messages is an error that says what to write`() async throws {
        let trigger = #".push(to: "main", messages: ["[deploy\\"], ignoringMessages: ["*"])"#
        try await Bench.with(Workflows.test("Step(\"a\", run: \"true\")", on: trigger)) { bench in
            for command in ["validate", "plan"] {
                let ended = try await bench.pipectl(command)
                #expect(ended.code == 2, "\(ended.output)\(ended.errors)")
                // What `validate` finds is its result; for `plan` it is an error.
                let said = ended.output + ended.errors
                #expect(said.contains(#"write \\ for the character itself"#), "\(said)")
                #expect(said.contains("leave the pattern out"), "\(said)")
            }
        }
    }

    @Test(.timeLimit(.minutes(6)), arguments: 1...5)
    func `two processes at once on a new state folder both succeed`(round: Int) async throws {
        try await Bench.with { bench in
            // Another definition is another compilation, which shares the compiler's cached modules with the first.
            let other = "\(bench.root)/other"
            #expect(try await bench.command(["cp", "-R", bench.repository, other]).code == 0)
            try Data((Workflows.source("Step(\"other\", run: \"true\")")).utf8)
                .write(to: URL(fileURLWithPath: "\(other)/workflows/x.swift"))
            async let one = bench.pipectl("validate")
            async let same = bench.pipectl("validate")
            async let another = bench.pipectl("validate", in: other)
            for (ended, says) in [
                (try await one, "2 workflows are valid: test, release\n"),
                (try await same, "2 workflows are valid: test, release\n"),
                (try await another, "1 workflow is valid: test\n"),
            ] {
                #expect(ended.code == 0, "\(ended.errors)")
                #expect(ended.output == says)
            }
        }
    }
}
