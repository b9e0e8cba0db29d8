import Foundation
import Pipeline
import Testing

/// How changes land, as workflows declare it.
@Suite struct LandingTests {
    private static let test = Workflow("test", on: .pullRequest(into: "main")) { Step("a", run: "true") }

    private struct Without: WorkflowSet { static let workflows = [LandingTests.test] }
    private struct One: WorkflowSet {
        static let workflows = [LandingTests.test]
        static let landing = Landing(into: "main", requires: [LandingTests.test], method: .rebase)
            .batches(of: 6).speculates(depth: 3).attempts(4).merged(by: .forge).label("land")
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
        #expect(one.merger == .forge && one.label == "land")
        #expect(Several.landing.declarations.map(\.branch) == ["main", "release/1"])
        #expect(Several.landing.declarations.allSatisfy { $0.method == .squash })
        #expect(Several.landing.declarations.allSatisfy { $0.merger == .push && $0.label == nil })
    }

    @Test func `a description without landings can still be read`() throws {
        let old = #"{"formatVersion":1,"workflows":[]}"#
        let read = try JSONDecoder().decode(ProgramDescription.self, from: Data(old.utf8))
        #expect(read.landings == nil)
        let older = #"{"branch":"main","workflows":["test"],"method":"squash","batchSize":4,"depth":2,"attempts":2}"#
        let landing = try JSONDecoder().decode(LandingDeclaration.self, from: Data(older.utf8))
        #expect(landing == LandingDeclaration(branch: "main", workflows: ["test"], method: .squash))
        let new = ProgramDescription(workflows: [Self.test.declaration], landings: One.landing.declarations)
        #expect(try JSONDecoder().decode(ProgramDescription.self, from: JSONEncoder().encode(new)) == new)
    }
}
