import Foundation
@testable import WorkflowPrograms
import Pipeline
import Testing

/// The workflows of the guide and of the reference: people copy them.
@Suite(.programRoom, .timeLimit(.minutes(3))) struct ExampleTests {
    private static let docs = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("docs")

    /// The pages that have Swift in them, as paths relative to docs/.
    static var pages: [String] {
        get throws {
            let files = try FileManager.default.subpathsOfDirectory(atPath: docs.appendingPathComponent("guide").path)
            let guide = files.filter { $0.hasSuffix(".md") }.map { "guide/\($0)" }.sorted()
            let catalog = "../Sources/Pipeline/Documentation.docc"
            let reference = try FileManager.default
                .contentsOfDirectory(atPath: docs.appendingPathComponent(catalog).path).filter { $0.hasSuffix(".md") }
                .map { "\(catalog)/\($0)" }.sorted()
            return try (["fix.md", "integrity.md", "review.md"] + guide + reference).filter {
                try text(of: $0).contains("```swift\n")
            }
        }
    }

    private static func text(of page: String) throws -> String {
        try String(contentsOf: docs.appendingPathComponent(page), encoding: .utf8)
    }

    /// A block of a page as declarations at the top of a file, so that all blocks of the page are compiled together.
    private static func declarations(_ number: Int, _ block: String) -> String {
        if block.hasPrefix("static ") { return "enum Members\(number) {\n\(block)}\n" }
        // A step or a command alone stands for a place in a workflow behind a gate.
        if block.contains(/^[A-Z]\w*\(/) { return "func example\(number)(gate: Step) -> Any {\n\(block)}\n" }
        return block.replacing(/(?m)^@main struct \w+/, with: "struct Page\(number)")
    }

    @Test func `every language has a page`() throws {
        let pages = try Self.pages
        for language in ["swift", "xcode", "python", "javascript", "c-and-cpp", "rust", "go"] {
            #expect(pages.contains("guide/languages/\(language).md"))
        }
    }

    @Test(arguments: try pages) func `the workflows of a page compile and can be planned`(page: String) async throws {
        let blocks = try Self.text(of: page).components(separatedBy: "```swift\n").dropFirst()
            .map { $0.components(separatedBy: "```")[0] }
        var text = blocks.enumerated().map(Self.declarations).joined(separator: "\n")
        // What a page only mentions is declared here.
        for (name, trigger) in [("test", ".pullRequest(into: \"main\")"), ("release", ".merge(into: \"main\")")]
        where !text.contains("let \(name) = Workflow") {
            text += "let \(name) = Workflow(\"\(name)\", on: \(trigger)) { Step(\"\(name)\", run: \"make\") }\n"
        }
        let names = text.matches(of: /(?m)^let (\w+) = Workflow/).map { String($0.1) }
        let program = try await ProgramRoom.current.cache().program(
            for: .files([
                "workflows/w.swift":
                    "import Pipeline\n\(text)\n@main struct W: WorkflowSet { static let workflows = [\(names.joined(separator: ", "))] }"
            ]))
        #expect(program.names.count == names.count)
        for name in program.names {
            // Plans are only given out when validation has found nothing.
            let plan = try await program.plan(workflow: name, context: .example)
            #expect(!plan.steps.isEmpty, "\(name)")
        }
    }
}
