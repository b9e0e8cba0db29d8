import WorkflowPrograms
import Testing

@testable import Engine

/// Workflows that are declared and in no list.
@Suite struct UnlistedWorkflowTests {
    private func unlisted(_ text: String, among names: [String] = ["test"]) -> [String] {
        WorkflowSources(files: [WorkflowFile(path: "workflows/x.swift", bytes: Array(text.utf8))])
            .unlisted(among: names).map { "\($0.name):\($0.line)" }
    }

    @Test func `a workflow that no list names is found with its line`() {
        let text = """
            import Pipeline
            let test = Workflow("test", on: .manual) { Step("a", run: "true") }
            let nightly = Workflow(
                "nightly", on: .manual) { Step("a", run: "true") }
            """
        #expect(unlisted(text) == ["nightly:3"])
        #expect(unlisted(text, among: ["test", "nightly"]) == [])
    }

    @Test(
        arguments: [
            "// let old = Workflow(\"old\")", "/* /* */ Workflow(\"old\") */", "let text = \"Workflow(\\\"old\\\")\"",
            "let text = #\"Workflow(\"old\")\"#", "let text = \"\"\"\nWorkflow(\"old\")\n\"\"\"",
            "let text = \"\\(call(\")\", \"Workflow(\"))\"", "let x = MyWorkflow(\"old\")",
            "let n = Workflow(\"\\(name)\")",
            "func workflow(named name: String) -> Workflow { Workflow(name) { } }", "struct W: Workflow {}", "\"",
            "Workflow(\"",
        ])
    func `text that declares no workflow by a literal name is none`(text: String) {
        #expect(unlisted(text) == [])
    }

    @Test func `code after a string with an interpolation is read on`() {
        #expect(unlisted("let a = \"\\(b(\")\"))\"\nlet c = Workflow(\"c\") {}") == ["c:2"])
    }
}
