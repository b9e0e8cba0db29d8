import ProofKeys
import Results
import Engine
import Foundation
import Pipeline
import Testing
@testable import Preparing

/// When proofs are used at all, and what is made of a proof that was wrong.
struct ProofUseTests {
    private func request(_ event: Trigger.Event = .pullRequest, _ change: (inout RunRequest) -> Void = { _ in })
        -> RunRequest
    {
        var request = RunRequest(
            repository: "repo", workflow: "test", event: event, ref: "refs/heads/x", branch: "main",
            head: String(repeating: "1", count: 40), definitionCommit: String(repeating: "2", count: 40),
            subject: "change x", concurrency: .supersede)
        change(&request)
        return request
    }

    @Test func `a scheduled run and a run of all steps use no proofs`() {
        var options = DaemonOptions(slots: 1)
        #expect(ProofSearch.isWanted(request(), options))
        #expect(ProofSearch.isWanted(request(.merge), options))
        #expect(!ProofSearch.isWanted(request(.schedule), options))
        #expect(!ProofSearch.isWanted(request { $0.options.refusesProofs = true }, options))
        #expect(!ProofSearch.isWanted(request { $0.options.isClean = true }, options))
        #expect(!ProofSearch.isWanted(request { $0.kind = .warmUp(isMissed: false) }, options))
        options.usesProofs = false
        #expect(!ProofSearch.isWanted(request(), options))
    }

    private static func claim(_ proof: ProvedStep, scope: String = ProofScope.merged) -> ProofSearch.Found {
        ProofSearch.Found(step: proof, scope: scope)
    }

    @Test func `a wrong proof of a change with undeclared files affects that change alone`() throws {
        let proof = ProvedStep(
            citation: ProofCitation(run: 3, attempt: 1, step: "s"),
            key: StepKey(value: "k", definition: "d", parts: [:]))
        let plan = Plan(workflow: "w", steps: [PlannedStep(name: "s", action: .shell("x"))])
        let scope = ProofScope.change("7")
        let proofs = RunProofs(
            keyed: KeyedPlan(plan, KeyFacts()), claims: ["s": Self.claim(proof, scope: scope)])
        var outcome = try #require(Runner.settled(plan, by: ["s": proof]))
        outcome.steps[0].provedBy = nil
        outcome.steps[0].status = .failed
        var confined = outcome
        proofs.judge(&outcome, of: 9, ["s": .undeclared(path: "GNUmakefile")])
        #expect(outcome.steps[0].refutes?.scope == scope)
        #expect(outcome.findings.map(\.rule) == ["passed-undeclared"])
        #expect(outcome.findings.first?.file == "GNUmakefile")
        proofs.judge(&confined, of: 9)
        #expect(confined.steps[0].refutes != nil && confined.steps[0].refutes?.scope == nil)
    }

    @Test(arguments: [ProofConfinement.Breach.undeclared(path: "GNUmakefile"), .noTarget, .unreadable("gone")])
    func `a change that fails with its own undeclared files leaves others' proofs`(breach: ProofConfinement.Breach)
        throws
    {
        let proof = ProvedStep(
            citation: ProofCitation(run: 3, attempt: 1, step: "s"),
            key: StepKey(value: "k", definition: "d", parts: [:]))
        let plan = Plan(workflow: "w", steps: [PlannedStep(name: "s", action: .shell("x"))])
        let proofs = RunProofs(keyed: KeyedPlan(plan, KeyFacts()), claims: ["s": Self.claim(proof)])
        var failed = try #require(Runner.settled(plan, by: ["s": proof]))
        failed.steps[0].provedBy = nil
        failed.steps[0].status = .failed
        func judged(_ own: OwnBreaches?) -> RunOutcome {
            var outcome = failed
            proofs.judge(&outcome, of: 9, own: own)
            return outcome
        }
        let own = judged(OwnBreaches(scope: ProofScope.change("7"), breaches: ["s": breach]))
        #expect(own.steps[0].refutes?.scope == ProofScope.change("7"))
        #expect(own.findings.map(\.rule) == ["failed-undeclared"])
        #expect(own.findings.first?.file == breach.path)
        let tree = judged(OwnBreaches(scope: nil, breaches: ["s": breach]))
        #expect(tree.steps[0].refutes == nil, "a working tree has no proofs to lose")
        for held in [nil, OwnBreaches(scope: ProofScope.change("7"), breaches: [:])] {
            let outcome = judged(held)
            #expect(outcome.steps[0].refutes != nil && outcome.steps[0].refutes?.scope == nil)
        }
    }

    @Test(arguments: StepStatus.allCases) func `only a step that failed by itself refutes its proof`(status: StepStatus)
        throws
    {
        let key = StepKey(value: "k", definition: "d", parts: [:])
        let proof = ProvedStep(citation: ProofCitation(run: 3, attempt: 1, step: "it's"), key: key)
        let proofs = RunProofs(
            keyed: KeyedPlan(Plan(workflow: "w", steps: []), KeyFacts()), claims: ["it's": Self.claim(proof)])
        let plan = Plan(workflow: "w", steps: [PlannedStep(name: "it's", action: .shell("x"))])
        var outcome = try #require(Runner.settled(plan, by: ["it's": proof]))
        outcome.steps[0].status = status
        outcome.steps[0].provedBy = nil
        proofs.judge(&outcome, of: 9)
        let isWrong = status == .failed
        #expect(outcome.steps[0].refutes == (isWrong ? ProofRefutation(proof: proof.citation, definition: "d") : nil))
        #expect(outcome.findings.map(\.rule) == (isWrong ? ["proof-wrong"] : []))
        if isWrong { #expect(outcome.findings[0].suggestion?.hasSuffix("pipectl proofs trust 'it'\\''s'") == true) }
    }

    @Test(arguments: [
        AttemptRecord(number: 1, startedAt: Date(), status: .failed, signal: 9),
        AttemptRecord(number: 1, startedAt: Date(), status: .failed, exitCode: 137),
    ])
    func whatWasEndedFromOutsideRefutesNothing(attempt: AttemptRecord) throws {
        let proof = ProvedStep(
            citation: ProofCitation(run: 3, attempt: 1, step: "s"),
            key: StepKey(value: "k", definition: "d", parts: [:]))
        let plan = Plan(workflow: "w", steps: [PlannedStep(name: "s", action: .shell("x"))])
        let proofs = RunProofs(keyed: KeyedPlan(plan, KeyFacts()), claims: ["s": Self.claim(proof)])
        var failed = try #require(Runner.settled(plan, by: ["s": proof]))
        failed.steps[0].provedBy = nil
        failed.steps[0].status = .failed
        var limited = attempt
        (limited.signal, limited.exitCode, limited.hitLimit) = (nil, 1, true)
        for end in [attempt, limited] {
            failed.steps[0].attempts = [end]
            proofs.judge(&failed, of: 9)
            #expect(failed.steps[0].refutes == nil)
        }
        failed.steps[0].attempts[0].hitLimit = nil
        failed.steps[0].attempts[0].exitCode = 1
        proofs.judge(&failed, of: 9)
        #expect(failed.steps[0].refutes != nil)
    }

    @Test func `the context of a closure has no ids of commits`() {
        func context(_ commit: Character) -> PlanContext {
            let id = String(repeating: commit, count: 40)
            return PlanContext(
                repository: "r", event: .pullRequest, commit: id, ref: "refs/pull/7/head", branch: "main",
                change: Change(name: "7", head: id, target: "main", targetCommit: id, title: "Title", author: "Ada"),
                changedFiles: [ChangedFile(status: .modified, path: "a")])
        }
        #expect(ProofSearch.closureContext(context("1")) == ProofSearch.closureContext(context("2")))
        var other = context("1")
        other.change?.title = "Another title"
        #expect(ProofSearch.closureContext(other) != ProofSearch.closureContext(context("1")))
    }
}
