import TestBasics
import TestSupport
import Results
import Store
import Engine
import Foundation
import Git
import Pipeline
import Testing

import WorkflowPrograms
@testable import Preparing
@testable import Watching

/// What is clear of a run before its first step: the commit that is tested, or the verdict.
struct RunPreparationTests {
    @Test func `a plan keeps the requested steps and those that they need`() throws {
        func step(_ name: String, _ needs: String...) -> PlannedStep {
            PlannedStep(name: name, action: .shell("true"), needs: needs)
        }
        let plan = Plan(
            workflow: "test", steps: [step("a"), step("b", "a"), step("c", "b"), step("d", "a"), step("e")])
        #expect(try plan.keeping(["c"]).steps.map(\.name) == ["a", "b", "c"])
        #expect(try plan.keeping(["e", "d"]).steps.map(\.name) == ["a", "d", "e"])
        let error = #expect(throws: DefinitionError.self) { try plan.keeping(["x"]) }
        #expect(error?.code == .invalid)
    }

    private var releasing: Plan {
        Workflow("release", on: .merge(into: "main")) {
            let build = Step("build", run: "make")
            let early = Step.approval("start", needs: build)
            let version = Release(version: .counted("1"), files: "dist/*", needs: early)
            let gate = Step.approval("ship", needs: version.step)
            Step.publish("out", version, needs: gate, to: .folder("/srv"))
            Step("tell", needs: gate, run: "true")
            let look = Step.approval("look", needs: build)
            Step("deploy", needs: look, run: "make deploy").secrets("TOKEN")
        }.plan(for: PlanContext(repository: "r", event: .manual, commit: "c", ref: ""))
    }

    @Test func `a working tree is tried without its release`() throws {
        let tested = try #require(OID(hex: String(repeating: "a", count: 40)))
        var request = Sample.request()
        (request.event, request.ref, request.change) = (.manual, "", nil)
        let (plan, note) = try RunPreparation.trial(of: releasing, for: request, tested: tested)
        #expect(plan.steps.map(\.name) == ["build"])
        #expect(note?.rule == RunPreparation.releaseLeftOut)
        #expect(releasing.withoutActing.steps.map(\.name) == ["build"])
        // What somebody asks for by name is not left out silently.
        request.onlySteps = ["out"]
        let early = #expect(throws: EarlyVerdict.self) {
            _ = try RunPreparation.trial(of: releasing.keeping(["out"]), for: request, tested: tested)
        }
        #expect(early?.verdict == .definitionError)
        request.ref = "refs/heads/main"
        #expect(try RunPreparation.trial(of: releasing, for: request, tested: tested).plan == releasing)
    }

    @Test func `unmerged code that would be released ends before anybody is asked`() throws {
        let tested = try #require(OID(hex: String(repeating: "a", count: 40)))
        var request = Sample.request()
        (request.event, request.ref, request.change) = (.tag, "refs/tags/v1", nil)
        try RunPreparation.checkMerged(releasing, .merged, request, tested: tested)
        try RunPreparation.checkMerged(releasing.withoutReleasing, .change, request, tested: tested)
        let early = #expect(throws: EarlyVerdict.self) {
            try RunPreparation.checkMerged(releasing, .change, request, tested: tested)
        }
        #expect(early?.verdict == .failed && early?.question == nil)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a tag of an ancestor is known as such`() async throws {
        try await withTemporaryFolder { folder in
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                git commit -q --allow-empty -m a; git tag -a -m one v1
                git commit -q --allow-empty -m b
                git checkout -q --orphan other; git commit -q --allow-empty -m c; git tag v2
                """, folder)
            try await withRepository(at: folder) { git in
                let (main, first) = (try git.resolve("main"), try git.resolve("v1^{commit}"))
                func before(_ version: String, _ commit: OID) throws -> OID? {
                    try RunPreparation.tag(
                        of: ReleaseVersion(version: version, buildNumber: 1, tag: "v\(version)"), before: commit,
                        in: git)
                }
                #expect(try before("1", main) == first)
                #expect(try before("1", first) == nil)
                #expect(try before("2", main) == nil && before("3", main) == nil)
            }
        }
    }

    @Test func `the name of a divided step stands for all its parts`() throws {
        func plan(listed: Bool) -> Plan {
            Workflow("w") {
                let build = Step("build", run: "make")
                let tests = Step("tests", needs: build, run: "pytest --junitxml=r-$PIPECTL_SHARD.xml")
                    .testResults(.junit("r-$PIPECTL_SHARD.xml"))
                let divided = listed ? tests.shards(2, of: "list") : tests.shards(2)
                divided
                Step("ship", needs: divided, run: "make ship")
            }.plan(for: PlanContext(repository: "r", event: .manual, commit: "c", ref: "refs/heads/main"))
        }
        let parts = ["build", "tests (1 of 2)", "tests (2 of 2)"]
        #expect(try plan(listed: false).keeping(["tests"]).steps.map(\.name) == parts)
        #expect(try plan(listed: false).keeping(["tests (2 of 2)"]).steps.map(\.name) == ["build", parts[2]])
        // A list is divided anew, so one part alone may lack the tests that it had.
        #expect(try plan(listed: true).keeping(["tests (2 of 2)"]).steps.map(\.name) == parts)
        #expect(plan(listed: true).steps.filter(\.isNeverProved).map(\.name) == Array(parts.dropFirst()))
        // Tests that were named are not divided.
        let test = [KnownTest(suite: "tests.test_a", name: "test_b")]
        let one = try plan(listed: false).keeping(["tests"]).running(test, in: ["tests"])
        #expect(one.steps.map(\.name) == ["build", "tests (1 of 2)"])
        #expect(one.steps.last?.shard?.count == 1)
        var request = Sample.request()
        (request.onlySteps, request.onlyTests) = (["tests"], test)
        #expect(one.narrowed(by: request) == ["tests (1 of 2)": test])
        #expect(try plan(listed: false).running(test, in: nil).steps.map(\.name) == ["build", "tests (1 of 2)"])
        #expect(throws: DefinitionError.self) { try plan(listed: true).running(test, in: ["tests"]) }
    }

    @Test func `all mistakes in parameters are reported at once`() throws {
        let declaration = WorkflowDeclaration(
            name: "release", triggers: [.manual],
            parameters: [
                Parameter<String>("version").declaration, Parameter("count", default: 3).declaration,
            ])
        #expect(
            try RunPreparation.parameters(of: declaration, given: ["version": "1.2"])
                == ["version": "1.2", "count": "3"])
        let verdict = #expect(throws: EarlyVerdict.self) {
            try RunPreparation.parameters(of: declaration, given: ["count": "x", "other": "1"])
        }
        #expect(verdict?.verdict == .definitionError)
        let reason = verdict?.reason ?? ""
        #expect(reason.contains("has no parameter \"other\"; it has count, version"))
        #expect(reason.contains("version is required: add --param version=…"))
        #expect(reason.contains("whole number"))
    }

    @Test(.timeLimit(.minutes(2)))
    func `a change that can't be tested gets its verdict before any step`() async throws {
        try await withTemporaryFolder { folder in
            let repository = "\(folder)/repo"
            // A history with a conflict, one with nothing in common, and a commit without workflows/.
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                echo base > a; git add a; git commit -qm base
                git checkout -qb conflicting; echo theirs > a; git commit -qam theirs
                git checkout -q main; echo ours > a; git commit -qam ours
                git checkout -qb ahead; echo more > b; git add b; git commit -qm more
                git checkout -q --orphan unrelated; git commit -qm unrelated
                git checkout -q main
                """, repository)
            let watched = try await WatchedRepository.open(repository, named: "repo", mirrors: "\(folder)/mirrors")
            let programs = ProgramCache(
                directory: "\(folder)/programs", library: PipelineLibrary(module: "/none", library: "/none"),
                toolchain: Toolchain(swiftc: "/none", version: "none", target: "none"))
            let tips = try await withRepository(at: repository) { git in try git.snapshot().refs }

            func verdict(_ head: String) async throws -> EarlyVerdict? {
                let target = tips["refs/heads/main"]?.hex ?? ""
                let request = RunRequest(
                    repository: "repo", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
                    head: head, definitionCommit: target,
                    change: Change(
                        name: "x", head: head, target: "main", targetCommit: target, title: "", author: ""),
                    subject: "change x", concurrency: .supersede)
                let run = QueuedRun(id: 1, request: request, createdAt: Date())
                return await #expect(throws: EarlyVerdict.self) {
                    let rules = TrustRules(target: TargetRule(remembered: TargetBranch("main", .head)))
                    _ = try await RunPreparation.make(run, in: watched, programs: programs, rules: rules)
                }
            }
            let conflict = try await verdict(try #require(tips["refs/heads/conflicting"]).hex)
            #expect(conflict?.verdict == .conflict)
            #expect(conflict?.conflicts.map(\.path) == ["a"])

            let unrelated = try await verdict(try #require(tips["refs/heads/unrelated"]).hex)
            #expect(unrelated?.verdict == .conflict)
            #expect(unrelated?.reason.contains("no common history") == true)

            let ahead = try #require(tips["refs/heads/ahead"])
            let missing = try await verdict(ahead.hex)
            #expect(missing?.verdict == .definitionError)
            #expect(missing?.reason.contains("has no workflows/; run `pipectl init`") == true)
            #expect(missing?.tested == ahead, "a change on top of its target is tested as it is")

            let gone = try await verdict(String(repeating: "7", count: 40))
            #expect(gone?.verdict == .infrastructure)
            #expect(gone?.reason.contains("Push it again.") == true)

            let nonsense = try await verdict("no commit")
            #expect(nonsense?.verdict == .infrastructure)
        }
    }
}
