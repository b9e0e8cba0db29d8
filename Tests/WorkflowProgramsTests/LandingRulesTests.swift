import Pipeline
import PlanRules
import Testing

@testable import WorkflowPrograms

/// What is wrong with a landing is found before anything lands.
@Suite struct LandingRulesTests {
    private static let test = Workflow("test", on: .pullRequest(into: "main")) { Step("a", run: "true") }
    private static let release = Workflow("release", on: .merge(into: "main")) { Step("a", run: "true") }
    private static let asks = Workflow("asks", on: .manual, parameters: [Parameter<Int>("count")]) {
        Step("a", run: "true")
    }

    private static func rules(_ landings: [Landing], _ workflows: [Workflow] = [test, release, asks]) -> [String] {
        ProgramDescription(workflows: workflows.map(\.declaration), landings: landings.declarations).validate()
            .map { "\($0.rule) \($0.workflow)" }
    }

    @Test(arguments: [
        (Landing(into: "main", requires: []), "landing "),
        (Landing(into: "main", requires: [test, test]), "landing "),
        (Landing(into: "", requires: [test]), "landing "),
        (Landing(into: "release/*", requires: [test]), "landing "),
        (Landing(into: "refs/heads/main", requires: [test]), "landing "),
        (Landing(into: "a\u{7}b", requires: [test]), "landing "),
        (Landing(into: "main", requires: [release]), "landing release"),
        (Landing(into: "main", requires: [asks]), "landing asks"),
        (Landing(into: "main", requires: [test]).batches(of: 0), "landing "),
        (Landing(into: "main", requires: [test]).batches(of: 65), "landing "),
        (Landing(into: "main", requires: [test]).speculates(depth: -1), "landing "),
        (Landing(into: "main", requires: [test]).attempts(.max), "landing "),
        (Landing(into: "main", requires: [test]).label(" "), "landing "),
        (Landing(into: "main", requires: [test]).label("a\nb"), "landing "),
        (Landing(into: "main", requires: [test]).label(String(repeating: "x", count: 256)), "landing "),
    ])
    func `a mistake in a landing is found`(landing: Landing, finding: String) {
        #expect(Self.rules([landing]) == [finding])
    }

    @Test func `a landing requires workflows of the list, and each branch has one`() {
        let landing = Landing(into: "main", requires: [Self.test]).merged(by: .forge).label("ready to land")
        #expect(Self.rules([landing]).isEmpty)
        #expect(Self.rules([landing], [Self.release]) == ["landing test"])
        #expect(Self.rules([landing, landing]) == ["landing "])
    }
}
