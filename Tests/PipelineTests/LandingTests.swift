import Foundation
import Pipeline
import Testing

/// How changes land, as workflows declare it.
@Suite struct LandingTests {
    private static let test = Workflow("test", on: .pullRequest(into: "main")) { Step("a", run: "true") }
    private static let release = Workflow("release", on: .merge(into: "main")) { Step("a", run: "true") }
    private static let asks = Workflow("asks", on: .manual, parameters: [Parameter<Int>("count")]) {
        Step("a", run: "true")
    }

    private struct Without: WorkflowSet { static let workflows = [LandingTests.test] }
    private struct One: WorkflowSet {
        static let workflows = [LandingTests.test]
        static let landing = Landing(into: "main", requires: [LandingTests.test], method: .rebase)
            .batches(of: 6).speculates(depth: 3).attempts(4)
    }
    private struct Several: WorkflowSet {
        static let workflows = [LandingTests.test]
        static let landing = [
            Landing(into: "main", requires: [LandingTests.test]),
            Landing(into: "release/1", requires: [LandingTests.test]),
        ]
    }

    @Test func `a set declares no landing, one, or one for each branch`() throws {
        #expect(Without.landing.declarations.isEmpty)
        let one = try #require(One.landing.declarations.first)
        #expect(one.branch == "main")
        #expect(one.workflows == ["test"])
        #expect(one.method == .rebase)
        #expect((one.batchSize, one.depth, one.attempts) == (6, 3, 4))
        #expect(Several.landing.declarations.map(\.branch) == ["main", "release/1"])
        #expect(Several.landing.declarations.allSatisfy { $0.method == .squash })
    }

    @Test func `a description without landings can still be read`() throws {
        let old = #"{"formatVersion":1,"workflows":[]}"#
        let read = try JSONDecoder().decode(ProgramDescription.self, from: Data(old.utf8))
        #expect(read.landings == nil)
        let new = ProgramDescription(workflows: [Self.test.declaration], landings: One.landing.declarations)
        #expect(try JSONDecoder().decode(ProgramDescription.self, from: JSONEncoder().encode(new)) == new)
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
    ])
    func `a mistake in a landing is found`(landing: Landing, finding: String) {
        #expect(Self.rules([landing]) == [finding])
    }

    @Test func `a landing requires workflows of the list, and each branch has one`() {
        let landing = Landing(into: "main", requires: [Self.test])
        #expect(Self.rules([landing]).isEmpty)
        #expect(Self.rules([landing], [Self.release]) == ["landing test"])
        #expect(Self.rules([landing, landing]) == ["landing "])
    }
}
