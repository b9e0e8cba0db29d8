import Foundation
@testable import Engine
import Pipeline
import Testing

/// The workflows of docs/examples.md: people copy them.
@Suite(.programRoom, .timeLimit(.minutes(3))) struct ExampleTests {
    private let room = ProgramRoom.current

    /// The blocks of Swift on a page of the documentation.
    private func examples(on page: String) throws -> [String] {
        let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: top.appendingPathComponent(page), encoding: .utf8)
        return text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    @Test func theyCompileAndCanBePlanned() async throws {
        let examples = try examples(on: "docs/examples.md")
        let text = examples.joined(separator: "\n")
        let names = text.matches(of: /(?m)^let (\w+) = Workflow/).map { String($0.1) }
        #expect(names.count == examples.count && names.count >= 8)
        let program = try await room.cache().program(
            for: .files([
                "workflows/w.swift":
                    "import Pipeline\n\(text)\n@main struct W: WorkflowSet { static let workflows = [\(names.joined(separator: ", "))] }"
            ]))
        #expect(program.names == names)
        for name in names {
            // Plans are only given out when validation has found nothing.
            let plan = try await program.plan(workflow: name, context: .example)
            #expect(!plan.steps.isEmpty, "\(name)")
        }
    }
}
