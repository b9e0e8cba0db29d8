import Pipeline
import Testing

@testable import pipectl

@Suite struct DeclarationTextTests {
    @Test func `what a workflow says beside its steps is shown`() {
        var declaration = WorkflowDeclaration(
            name: "test", triggers: [.pullRequest(into: "main", paths: ["src/**"], ignoring: ["docs/**"])])
        #expect(DeclarationText.lines(declaration).isEmpty)
        #expect(PlanText.line(for: declaration) == "test: pull request into main [only src/**; not docs/**]")
        declaration.integrity = []
        declaration.bisectsWhenRed = true
        #expect(DeclarationText.lines(declaration).map { $0.prefix { $0 != " " } } == ["integrity", "bisects"])
    }
}
