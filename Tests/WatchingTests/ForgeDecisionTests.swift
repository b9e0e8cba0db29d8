import Git
import Pipeline
import Results
import Store
import Testing

@testable import Watching

/// What a forge says about changes, in the decision what runs and in the trust.
@Suite struct ForgeDecisionTests {
    private func facts(
        isDraft: Bool = false, labels: [String] = [], target: String = "main", isOpen: Bool = true
    ) -> ChangeFacts {
        ChangeFacts(
            title: "T", author: "ada", head: DecisionTests.oid(1).hex, target: target, isOpen: isOpen,
            isDraft: isDraft, labels: labels)
    }

    private let workflows = [
        WorkflowDeclaration(name: "all", triggers: [.pullRequest(into: "**")]),
        WorkflowDeclaration(name: "ready", triggers: [.pullRequest(into: "**", drafts: .ignored)]),
        WorkflowDeclaration(name: "labelled", triggers: [.pullRequest(into: "**", labels: ["ci", "slow"])]),
    ]

    private func decide(
        _ observation: RefObservation, known: [ChangeRecord] = [], _ workflows: [WorkflowDeclaration]? = nil,
        commits: CommitFacts = .unknown
    ) -> Decision {
        Decision.make(
            repository: "repo", observation: observation, known: known,
            definition: { _ in .workflows(workflows ?? self.workflows) }, commits: commits)
    }

    private func moved(_ facts: ChangeFacts?) -> RefObservation {
        var change = DecisionTests.change()
        change.facts = facts
        return DecisionTests.moved(change: change)
    }

    private func refreshed(_ facts: ChangeFacts, from decided: ChangeFacts?) -> RefObservation {
        var observation = moved(facts)
        var change = observation.changes[0]
        change.target = facts.target
        observation.refreshed = [RefObservation.RefreshedChange(change: change, decided: decided)]
        observation.changes = []
        return observation
    }

    @Test func `a push starts what its facts suit, and without a forge all that needs no label`() {
        func names(_ facts: ChangeFacts?) -> [String] { decide(moved(facts)).requests.map(\.workflow) }
        #expect(names(nil) == ["all", "ready"])
        #expect(names(facts()) == ["all", "ready"])
        #expect(names(facts(isDraft: true)) == ["all"])
        #expect(names(facts(labels: ["slow"])) == ["all", "ready", "labelled"])
        #expect(names(facts(labels: ["Slow", "сi"])) == ["all", "ready"])
        #expect(names(facts(isOpen: false)).isEmpty)
        let change = decide(moved(facts(isDraft: true, labels: ["x"]))).requests.first?.change
        #expect(change?.isDraft == true && change?.labels == ["x"])
    }

    @Test func `what applies now and did not before starts, under the identity of the push`() {
        let known = [DecisionTests.known(.open)]
        func made(_ new: ChangeFacts, _ old: ChangeFacts?) -> [RunRequest] {
            decide(refreshed(new, from: old), known: known).requests
        }
        #expect(made(facts(), facts(isDraft: true)).map(\.workflow) == ["ready"])
        #expect(made(facts(labels: ["ci"]), facts()).map(\.workflow) == ["labelled"])
        #expect(made(facts(labels: ["ci", "slow"]), facts(labels: ["ci"])).isEmpty)
        #expect(made(facts(isDraft: true), facts()).isEmpty)
        #expect(made(facts(), nil).isEmpty)
        // The same identity as the run of the push would have: it starts once, however often the label comes and goes.
        #expect(made(facts(labels: ["ci"]), facts()).map(\.nonce) == [""])
    }

    @Test func `a trigger that a filter of commits held back did not apply before`() {
        let triggers: [[Trigger]] = [
            [.pullRequest(into: "main", messages: ["[full]"]), .pullRequest(into: "main", labels: ["ci"])],
            [.pullRequest(into: "main", paths: ["docs/**"]), .pullRequest(into: "main", labels: ["ci"])],
        ]
        for triggers in triggers {
            func made(_ new: ChangeFacts, message: String, path: String) -> Decision {
                decide(
                    refreshed(new, from: facts()), known: [DecisionTests.known(.open)],
                    [WorkflowDeclaration(name: "test", triggers: triggers)],
                    commits: CommitFacts(paths: { _, _ in [path] }, message: { _ in message }))
            }
            #expect(made(facts(labels: ["ci"]), message: "Add it", path: "a").requests.map(\.workflow) == ["test"])
            #expect(made(facts(labels: ["ci"]), message: "[full]", path: "docs/a").requests.isEmpty)
        }
    }

    @Test func `a label does not outweigh the message`() {
        let workflows = [
            WorkflowDeclaration(
                name: "test", triggers: [.pullRequest(into: "**", ignoringMessages: ["[skip ci]"], labels: ["ci"])])
        ]
        let made = decide(
            refreshed(facts(labels: ["ci"]), from: facts()), known: [DecisionTests.known(.open)], workflows,
            commits: CommitFacts(paths: { _, _ in [] }, message: { _ in "Add it [skip ci]" }))
        #expect(made.requests.isEmpty)
        #expect(made.heldBack["refs/pull/7/head"]?.map(\.name) == ["test"])
    }

    @Test func `a retargeted change is tested with its new target`() {
        let made = decide(
            refreshed(facts(target: "next"), from: facts()), known: [DecisionTests.known(.open)])
        #expect(made.requests.map(\.workflow) == ["all", "ready"])
        #expect(made.requests.allSatisfy { $0.change?.target == "next" && $0.nonce.hasPrefix("onto ") })
        #expect(made.changes.first?.target == "next")
    }

    @Test func `a change that is closed at the forge starts nothing, and one that is opened again goes on`() {
        let closed = decide(
            refreshed(facts(isOpen: false), from: facts()), known: [DecisionTests.known(.open)])
        #expect(closed.requests.isEmpty && closed.changes.map(\.state) == [.closed])
        let open = decide(
            refreshed(facts(), from: facts(isOpen: false)), known: [DecisionTests.known(.closed)])
        #expect(open.changes.first?.state == .open && open.requests.map(\.workflow) == ["all", "ready"])
    }

    @Test(
        arguments: [
            (.writers, .writer, false), (.writers, .contributor, true), (.writers, .newcomer, true),
            (.contributors, .writer, false), (.contributors, .contributor, false), (.contributors, .newcomer, true),
            (.anyone, .newcomer, false), (.anyone, .unknown, false), (.contributors, .unknown, true),
            (.writers, .unknown, true),
        ] as [(ContributorRule, Contributor.Standing, Bool)])
    func `who brings code is asked about`(rule: ContributorRule, standing: Contributor.Standing, isAsked: Bool) {
        var policy = TrustPolicy.standard
        policy.contributors = rule
        #expect((policy.objection(to: Contributor(login: "ada", standing: standing)) != nil) == isAsked)
    }
}
