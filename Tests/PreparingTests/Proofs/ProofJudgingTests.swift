import ProofKeys
import TestBasics
@testable import Workspaces
import TestSupport
import Store
import Results
import Foundation
import Git
import Logging
import Pipeline
import Testing

@testable import Archive
@testable import Engine
import Sandbox
@testable import WorkflowPrograms
@testable import Preparing
@testable import Watching

/// Whose proofs a failed step costs: judged for whole runs, with real trees.
///
/// A change that is not merged must not be able to drop everybody's proofs with a file that no step declares. A merged run
/// with the same file drops them, because from then on everybody has it.
struct ProofJudgingTests {
    private struct Ground {
        var folder: String
        /// The target's commit, and trees on top of it.
        var target: OID
        var declared: OID
        var undeclared: OID

        init(_ folder: String) async throws {
            self.folder = folder
            _ = try Repository.create(bareAt: folder + "/store.git")
            (target, declared, undeclared) = try await withRepository(at: folder + "/store.git") { git throws in
                let files = ["Makefile": "all:", "src/a": "a"]
                func tree(_ more: [String: String]) throws -> OID {
                    try git.createTree(
                        files.merging(more) { $1 }.mapValues { .blob(try git.createBlob(Array($0.utf8))) })
                }
                let author = Signature(name: "Ada", email: "ada@example.com", time: .init(timeIntervalSince1970: 0))
                let commit = try git.createCommit(
                    tree: tree([:]), parents: [], author: author, committer: author, message: "one")
                return (commit, try tree(["src/a": "a2"]), try tree(["src/a": "a2", "GNUmakefile": "all: b"]))
            }
        }

        private var repository: WatchedRepository {
            WatchedRepository(
                name: "repo", location: folder, gitDirectory: folder + "/store.git", store: folder + "/store.git",
                isRemote: false)
        }

        private func search() throws -> ProofSearch {
            ProofSearch(
                index: try Store.Index.inMemory(), store: try ArchiveStore(home: folder + "/home"),
                options: DaemonOptions(slots: 1),
                sandboxing: Sandboxing(
                    sandbox: nil, obstacle: "none", controlGroups: nil, groupObstacle: nil, users: StepUsers(),
                    caches: CacheLocks()),
                toolchain: Toolchain(swiftc: "/none", version: "none", target: "none"),
                log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }

        private func preparation(_ plan: Plan, _ tree: OID, _ trust: Trust, _ request: RunRequest) -> RunPreparation {
            let declaration = WorkflowDeclaration(name: "test", triggers: [.manual])
            return RunPreparation(
                tested: target, tree: tree, commitTime: 0,
                context: PlanContext(repository: "repo", event: request.event, commit: target.hex, ref: request.ref),
                declaration: declaration, plan: plan, wholePlan: plan,
                program: WorkflowProgram(
                    key: "k", executable: "/none", description: ProgramDescription(workflows: [declaration]),
                    directory: "/none", reads: [], programSandbox: .none, environment: [:], limits: ProgramLimits()),
                definition: Report.Definition(commit: target.hex, tree: tree.hex, toolchain: "none"), trust: trust,
                editsDefinition: false, notes: [])
        }

        /// What is made of a step that reads `src/**` and fails although `claim` says that it passed with the same inputs.
        func judged(
            _ tree: OID, _ trust: Trust, change: Bool, claim scope: String = ProofScope.merged,
            provedIn proved: OID? = nil
        ) async throws -> RunOutcome {
            func named(_ name: String) -> Change {
                Change(name: name, head: "", target: "main", targetCommit: target.hex, title: "", author: "")
            }
            var step = PlannedStep(name: "s", action: .shell("make"))
            step.inputs = ["src/**"]
            let plan = Plan(workflow: "test", steps: [step])
            let request = RunRequest(
                repository: "repo", workflow: "test", event: change ? .pullRequest : .merge, ref: "refs/heads/x",
                branch: "main", head: target.hex, definitionCommit: target.hex, change: change ? named("7") : nil,
                subject: "x", concurrency: .supersede)
            let proof = ProvedStep(
                citation: ProofCitation(run: 3, attempt: 1, step: "s"),
                key: StepKey(value: "k", definition: "d", parts: [:]))
            let found = ProofSearch.Found(
                step: proof, scope: scope, tree: (proved ?? target).hex, change: proved.map { _ in named("8") })
            let proofs = RunProofs(keyed: KeyedPlan(plan, KeyFacts()), claims: ["s": found])
            var outcome = try #require(Runner.settled(plan, by: ["s": proof]))
            outcome.steps[0].provedBy = nil
            outcome.steps[0].status = .failed
            let run = QueuedRun(id: 9, request: request, createdAt: Date())
            try await search().judge(
                &outcome, by: proofs, preparation(plan, tree, trust, request), run, in: repository)
            return outcome
        }
    }

    @Test func `a change that fails with its own undeclared file leaves others their proofs`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(folder)
            let outcome = try await ground.judged(ground.undeclared, .change, change: true)
            #expect(outcome.findings.map(\.rule) == ["failed-undeclared"])
            #expect(outcome.findings.map(\.severity) == [.warning])
            #expect(outcome.findings.first?.file == "GNUmakefile")
            #expect(outcome.steps[0].refutes?.scope == ProofScope.change("7"), "its own proofs alone are dropped")
        }
    }

    @Test func `a merged run that fails with the same file drops all proofs`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(folder)
            let outcome = try await ground.judged(ground.undeclared, .merged, change: false)
            #expect(outcome.findings.map(\.rule) == ["proof-wrong"])
            let refuted = try #require(outcome.steps[0].refutes)
            #expect(refuted.scope == nil && refuted.proof.run == 3)
        }
    }

    @Test func `a change that brings only what is declared shows that the proof was wrong`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(folder)
            let outcome = try await ground.judged(ground.declared, .change, change: true)
            #expect(outcome.findings.map(\.rule) == ["proof-wrong"])
            let refuted = try #require(outcome.steps[0].refutes)
            #expect(refuted.scope == nil)
        }
    }

    @Test func `a branch that is not merged has nothing to compare with, and drops its own proofs alone`() async throws
    {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(folder)
            let outcome = try await ground.judged(ground.declared, .change, change: false)
            #expect(outcome.findings.map(\.rule) == ["failed-undeclared"])
            #expect(outcome.steps[0].refutes?.scope == ProofScope.ref("refs/heads/x"))
        }
    }

    @Test func `the proof of a change that brought an undeclared file is dropped for that change alone`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(folder)
            let outcome = try await ground.judged(
                ground.declared, .merged, change: false, claim: ProofScope.change("8"), provedIn: ground.undeclared)
            #expect(outcome.findings.map(\.rule) == ["passed-undeclared"])
            #expect(outcome.steps[0].refutes?.scope == ProofScope.change("8"))
        }
    }
}
