import Results
import Git
import LandedChanges
import Pipeline
import Store
import Testing
@testable import Watching

/// What a look starts, as a pure function of what was seen: one row for each kind of happening.
struct DecisionTests {
    /// What a test says of a request; the rest follows from it.
    struct Wanted: Equatable, Sendable {
        var workflow: String
        var event: Trigger.Event
        var head: OID
        var definition: OID
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var observation: RefObservation
        var known: [ChangeRecord] = []
        var declarations: [WorkflowDeclaration]
        var paths: [String] = []
        var messages: [OID: String] = [:]
        var requests: [Wanted] = []
        var changes: [String: ChangeRecord.State] = [:]
    }

    static let target = oid(1)
    static let head = oid(2)
    static let newTarget = oid(3)
    static let test = WorkflowDeclaration(name: "test", triggers: [.pullRequest(into: "main")])
    static let release = WorkflowDeclaration(name: "release", triggers: [.merge(into: "main")])
    static let push = WorkflowDeclaration(name: "push", triggers: [.push(to: "main", "topic/*")])
    static let tag = WorkflowDeclaration(name: "tag", triggers: [.tag(matching: "v*")])
    static let all = [test, release, push, tag]

    @Test func `a moved target is run so that later changes have a snapshot`() {
        var observation = DecisionTests.branch()
        observation.defaultTarget = "main"
        func requests(_ declarations: [WorkflowDeclaration], refreshes: Bool = true) -> [RunRequest] {
            Decision.make(
                repository: "repo", observation: observation, known: [], refreshes: refreshes,
                definition: { _ in .workflows(declarations) }, commits: .unknown
            ).requests.filter { $0.background != nil }
        }
        let made = requests(DecisionTests.all)
        #expect(made.map(\.workflow) == ["test"])
        #expect(made.map(\.head) == [DecisionTests.newTarget.hex])
        #expect(made.map(\.background) == [.warmUp])
        #expect(requests(DecisionTests.all, refreshes: false).isEmpty)
        let both = WorkflowDeclaration(name: "test", triggers: [.pullRequest(into: "main"), .merge(into: "main")])
        #expect(requests([both]).isEmpty, "its own run on the branch leaves the base")
        observation.defaultTarget = "other"
        #expect(requests(DecisionTests.all).isEmpty, "no change wants into it")
    }

    static func oid(_ number: Int) -> OID {
        let digits = String(number, radix: 16)
        guard let id = OID(hex: String(repeating: "0", count: 40 - digits.count) + digits) else {
            preconditionFailure("\(number) makes no object id")
        }
        return id
    }

    static func change(_ name: String = "7", isLanded: Bool = false) -> RefObservation.MovedChange {
        RefObservation.MovedChange(
            name: name, ref: "refs/pull/\(name)/head", head: head, target: "main", targetCommit: target,
            title: "Title", author: "Ada", isLanded: isLanded)
    }

    static func moved(change: RefObservation.MovedChange) -> RefObservation {
        var observation = RefObservation()
        observation.changes = [change]
        observation.heads = [change.name: change.head]
        observation.refs = [change.name: change.ref]
        return observation
    }

    static func branch(
        _ name: String = "main", old: OID? = target, new: OID = newTarget, landings: [LandedChange] = [],
        heads: [String: OID] = [:]
    ) -> RefObservation {
        var observation = RefObservation()
        observation.branches = [
            RefObservation.MovedBranch(name: name, ref: "refs/heads/\(name)", old: old, new: new, landings: landings)
        ]
        observation.heads = heads
        observation.refs = heads.reduce(into: [:]) { $0[$1.key] = "refs/pull/\($1.key)/head" }
        return observation
    }

    static func tagged(_ name: String) -> RefObservation {
        var observation = RefObservation()
        observation.tags = [RefObservation.MovedTag(name: name, ref: "refs/tags/\(name)", commit: head)]
        return observation
    }

    static func closing(_ name: String) -> RefObservation {
        var observation = RefObservation()
        observation.closed = [name]
        return observation
    }

    static func known(_ state: ChangeRecord.State, _ name: String = "7") -> ChangeRecord {
        ChangeRecord(
            name: name, target: "main", head: head.hex, targetCommit: target.hex, state: state, title: "Title",
            author: "Ada")
    }

    static func filtered(
        paths: [String] = [], ignoring: [String] = [], messages: [String] = [], ignoringMessages: [String] = []
    ) -> [WorkflowDeclaration] {
        [
            WorkflowDeclaration(
                name: "test",
                triggers: [
                    .pullRequest(
                        into: "main", paths: paths, ignoring: ignoring, messages: messages,
                        ignoringMessages: ignoringMessages)
                ])
        ]
    }

    /// A workflow of pushes and one of merges that start for some messages only.
    static let deploying = [
        WorkflowDeclaration(name: "push", triggers: [.push(to: "main", messages: ["[deploy]"])]),
        WorkflowDeclaration(name: "release", triggers: [.merge(into: "main", ignoringMessages: ["[no release]"])]),
    ]

    static var retesting: [WorkflowDeclaration] {
        var declaration = test
        declaration.retestsStaleChanges = true
        return [declaration]
    }

    static let tested = Wanted(workflow: "test", event: .pullRequest, head: head, definition: target)
    static let released = Wanted(workflow: "release", event: .merge, head: newTarget, definition: newTarget)
    static let pushed = Wanted(workflow: "push", event: .push, head: newTarget, definition: newTarget)

    static let rows: [Row] = [
        Row(
            testDescription: "a new change is tested with the definition of its target",
            observation: moved(change: change()), declarations: all, requests: [tested], changes: ["7": .open]),
        Row(
            testDescription: "a change that is in the target already starts nothing",
            observation: moved(change: change(isLanded: true)), declarations: all, changes: ["7": .landed]),
        Row(
            testDescription: "a change into a branch that no workflow names starts nothing",
            observation: moved(change: change()),
            declarations: [WorkflowDeclaration(name: "test", triggers: [.pullRequest(into: "release/*")])],
            changes: ["7": .open]),
        Row(
            testDescription: "a change that touches a filtered path is tested", observation: moved(change: change()),
            declarations: filtered(paths: ["Sources/**"]), paths: ["Sources/a.swift", "README.md"],
            requests: [tested], changes: ["7": .open]),
        Row(
            testDescription: "a change that touches no filtered path is not", observation: moved(change: change()),
            declarations: filtered(paths: ["Sources/**"]), paths: ["README.md"], changes: ["7": .open]),
        Row(
            testDescription: "a change of ignored paths only is not tested", observation: moved(change: change()),
            declarations: filtered(ignoring: ["docs/**"]), paths: ["docs/a.md"], changes: ["7": .open]),
        Row(
            testDescription: "a change of an ignored path and another is", observation: moved(change: change()),
            declarations: filtered(ignoring: ["docs/**"]), paths: ["docs/a.md", "a.swift"], requests: [tested],
            changes: ["7": .open]),
        Row(
            testDescription: "a change whose newest message says so is not tested",
            observation: moved(change: change()),
            declarations: filtered(ignoringMessages: ["[skip ci]"]), messages: [head: "Draft\n\n[skip ci]"],
            changes: ["7": .open]),
        Row(
            testDescription: "a change whose newest message says nothing is", observation: moved(change: change()),
            declarations: filtered(ignoringMessages: ["[skip ci]"]), messages: [head: "Add it", target: "[skip ci]"],
            requests: [tested], changes: ["7": .open]),
        Row(
            testDescription: "a change without the wanted message is not tested", observation: moved(change: change()),
            declarations: filtered(messages: ["[full]"]), messages: [head: "Add it", target: "[full]"],
            changes: ["7": .open]),
        Row(
            testDescription: "a change whose message can't be read is tested, and its run says why",
            observation: moved(change: change()),
            declarations: filtered(messages: ["[full]"], ignoringMessages: ["[skip ci]"]), requests: [tested],
            changes: ["7": .open]),
        Row(
            testDescription: "a wanted message does not replace a wanted path", observation: moved(change: change()),
            declarations: filtered(paths: ["Sources/**"], messages: ["[full]"]), paths: ["README.md"],
            messages: [head: "[full]"], changes: ["7": .open]),
        Row(
            testDescription: "a branch's newest message decides about pushes and merges", observation: branch(),
            declarations: deploying, messages: [newTarget: "Ship it [deploy] [no release]", target: "Add it"],
            requests: [pushed]),
        Row(
            testDescription: "the message that a branch had before decides nothing", observation: branch(),
            declarations: deploying, messages: [newTarget: "Add it", target: "Ship it [deploy] [no release]"],
            requests: [released]),
        Row(
            testDescription: "a stale change whose message says so is not tested again",
            observation: branch(heads: ["7": head]), known: [known(.open)],
            declarations: {
                var declarations = filtered(ignoringMessages: ["[skip ci]"])
                declarations[0].retestsStaleChanges = true
                return declarations
            }(), messages: [head: "[skip ci]", newTarget: "Other"], changes: ["7": .stale]),
        Row(
            testDescription: "a change whose ref is gone is closed", observation: closing("7"), known: [known(.open)],
            declarations: all, changes: ["7": .closed]),
        Row(
            testDescription: "a landed change stays landed when its ref goes", observation: closing("7"),
            known: [known(.landed)], declarations: all),
        Row(
            testDescription: "an unknown change that goes leaves no record", observation: closing("7"),
            declarations: all),
        Row(
            testDescription: "a merge starts the merge and the push workflow, and lands the change",
            observation: branch(
                landings: [LandedChange(change: "7", head: head, commit: newTarget, how: .squash)], heads: ["7": head]),
            known: [known(.open)], declarations: all, requests: [released, pushed], changes: ["7": .landed]),
        Row(
            testDescription: "commits without a change are a merge too", observation: branch(), declarations: [release],
            requests: [released]),
        Row(
            testDescription: "a new branch starts push workflows only", observation: branch(old: nil),
            declarations: all, requests: [pushed]),
        Row(
            testDescription: "a branch that no workflow names starts nothing", observation: branch("other"),
            declarations: all),
        Row(
            testDescription: "a tag starts what wants its name", observation: tagged("v1.0"), declarations: all,
            requests: [Wanted(workflow: "tag", event: .tag, head: head, definition: head)]),
        Row(testDescription: "another tag starts nothing", observation: tagged("nightly"), declarations: all),
        Row(
            testDescription: "an open change is stale when its target moves", observation: branch(heads: ["7": head]),
            known: [known(.open)], declarations: [test], changes: ["7": .stale]),
        Row(
            testDescription: "a workflow may want stale changes tested again", observation: branch(heads: ["7": head]),
            known: [known(.open)], declarations: retesting,
            requests: [Wanted(workflow: "test", event: .pullRequest, head: head, definition: newTarget)],
            changes: ["7": .open]),
        Row(
            testDescription: "a closed change does not become stale", observation: branch(heads: ["7": head]),
            known: [known(.closed)], declarations: retesting),
        Row(
            testDescription: "another branch makes no change stale", observation: branch("other", heads: ["7": head]),
            known: [known(.open)], declarations: retesting),
    ]

    @Test(arguments: rows)
    func decides(_ row: Row) {
        let decision = Decision.make(
            repository: "r", observation: row.observation, known: row.known,
            definition: { _ in .workflows(row.declarations) },
            commits: CommitFacts(paths: { _, _ in row.paths }, message: { row.messages[$0] }))
        let requests = decision.requests.map {
            Wanted(
                workflow: $0.workflow, event: $0.event, head: OID(hex: $0.head) ?? Self.oid(0),
                definition: OID(hex: $0.definitionCommit) ?? Self.oid(0))
        }
        #expect(requests == row.requests)
        #expect(
            decision.changes.reduce(into: [:]) { $0[$1.name] = $1.state } as [String: ChangeRecord.State]
                == row.changes)
        #expect(Set(decision.changes.map(\.name)).count == decision.changes.count, "each change once")
        #expect(decision.requests.allSatisfy { $0.repository == "r" })
    }

    @Test func `the request of a change has all that a run needs`() throws {
        let decision = make(Self.moved(change: Self.change()), declarations: [Self.test])
        let request = try #require(decision.requests.first)
        #expect(request.ref == "refs/pull/7/head")
        #expect(request.branch == "main")
        #expect(request.nonce.isEmpty, "the same push must not start a second run")
        #expect(request.subject == "change 7")
        #expect(request.concurrency == .supersede)
        #expect(!request.runsAtMostOnce)
        #expect(request.change?.title == "Title")
        #expect(request.change?.targetCommit == Self.target.hex)
    }

    @Test func `the request of a merge names the changes that landed, and how`() throws {
        let landings = [
            LandedChange(change: "7", head: Self.head, commit: Self.newTarget, how: .rebase),
            LandedChange(change: "9", head: Self.oid(9), commit: Self.newTarget, how: .merge),
        ]
        var observation = Self.branch(landings: landings)
        observation.defaultTarget = "main"
        let decision = make(observation, declarations: [Self.release])
        let request = try #require(decision.requests.first)
        #expect(request.mergedChanges.map(\.name) == ["7", "9"])
        #expect(request.mergedChanges.map(\.recognition) == [.rebase, .merge])
        #expect(request.previous == Self.target.hex)
        #expect(request.runsAtMostOnce, "a release is not repeated by the box itself")
        #expect(request.concurrency == .queue(max: 100))
        #expect(decision.changes.map(\.landedCommit) == [Self.newTarget.hex, Self.newTarget.hex])
    }

    @Test func `a change has not landed in its own source branch`() throws {
        let landings = [LandedChange(change: "7", head: Self.head, commit: Self.head, how: .fastForward)]
        var observation = Self.branch(landings: landings)
        observation.defaultTarget = "develop"
        let decision = make(observation, declarations: [Self.release])
        #expect(decision.changes.isEmpty)
        #expect(decision.requests.first?.mergedChanges.isEmpty == true)
    }

    @Test func `a retest is distinct for each tip of the target`() throws {
        func nonce(_ tip: OID) throws -> String {
            let decision = make(
                Self.branch(new: tip, heads: ["7": Self.head]), known: [Self.known(.stale)],
                declarations: Self.retesting)
            #expect(decision.changes.first?.targetCommit == tip.hex)
            return try #require(decision.requests.first).nonce
        }
        #expect(try nonce(Self.oid(3)) != nonce(Self.oid(4)))
        #expect(try nonce(Self.oid(3)) == nonce(Self.oid(3)))
    }

    @Test func `a change that moved with its target is tested once`() {
        var observation = Self.moved(change: Self.change())
        observation.branches = Self.branch().branches
        let decision = make(observation, known: [Self.known(.open)], declarations: Self.retesting)
        #expect(decision.requests.map(\.event) == [.pullRequest])
    }

    @Test func `a change that lands in the same observation is not tested`() {
        var observation = Self.moved(change: Self.change())
        observation.branches =
            Self.branch(landings: [LandedChange(change: "7", head: Self.head, commit: Self.newTarget, how: .merge)])
            .branches
        let decision = make(observation, declarations: Self.all)
        #expect(decision.requests.map(\.event) == [.merge, .push])
        #expect(decision.changes.map(\.state) == [.landed])
    }

    @Test func `a definition error is reported once under its own name`() {
        for observation in [Self.moved(change: Self.change()), Self.branch()] {
            let decision = Decision.make(
                repository: "r", observation: observation, known: [], definition: { _ in .broken },
                commits: .unknown)
            #expect(decision.requests.map(\.workflow) == ["workflows"])
        }
    }

    @Test func `a definition error on a target does not retest its changes`() {
        let decision = Decision.make(
            repository: "r", observation: Self.branch(heads: ["7": Self.head]), known: [Self.known(.open)],
            definition: { _ in .broken }, commits: .unknown)
        #expect(decision.requests.map(\.event) == [.push])
        #expect(decision.changes.map(\.state) == [.stale])
    }

    @Test func `without workflows nothing starts`() {
        var observation = Self.moved(change: Self.change())
        observation.branches = Self.branch().branches
        observation.tags = Self.tagged("v1").tags
        let decision = Decision.make(
            repository: "r", observation: observation, known: [], definition: { _ in .none }, commits: .unknown)
        #expect(decision.requests.isEmpty)
        #expect(decision.changes.map(\.state) == [.open])
    }

    @Test func `paths and messages are read only if a trigger filters by them`() {
        let decision = Decision.make(
            repository: "r", observation: Self.moved(change: Self.change()), known: [],
            definition: { _ in .workflows([Self.test]) },
            commits: CommitFacts(
                paths: { _, _ in
                    Issue.record("nothing filters by path")
                    return []
                },
                message: { _ in
                    Issue.record("nothing filters by message")
                    return ""
                }))
        #expect(decision.requests.count == 1)
    }

    @Test func `what a filter holds back is named with the reason of the trigger that came nearest`() {
        let workflows =
            Self.filtered(ignoringMessages: ["[skip ci]"]) + [
                WorkflowDeclaration(
                    name: "full", triggers: [.pullRequest(into: "main", messages: ["[full]", "[all]"]), .manual]),
                WorkflowDeclaration(
                    name: "either",
                    triggers: [
                        .pullRequest(into: "main", messages: ["[full]"]), .pullRequest(into: "main"),
                    ]),
                WorkflowDeclaration(name: "elsewhere", triggers: [.pullRequest(into: "next", messages: ["[full]"])]),
                WorkflowDeclaration(
                    name: "docs", triggers: [.pullRequest(into: "main", paths: ["docs/**"], messages: ["[full]"])]),
            ] + Self.deploying
        func decide(_ observation: RefObservation, _ message: String) -> Decision {
            Decision.make(
                repository: "r", observation: observation, known: [], definition: { _ in .workflows(workflows) },
                commits: CommitFacts(paths: { _, _ in ["a.swift"] }, message: { _ in message }))
        }
        let change = decide(Self.moved(change: Self.change()), "Add it [skip ci]")
        #expect(change.requests.map(\.workflow) == ["either"])
        func held(_ name: String, _ filter: TriggerFilter, _ why: String) -> HeldBackWorkflow {
            HeldBackWorkflow(name: name, commit: Self.head.hex, TriggerObjection(filter: filter.name, why: why))
        }
        let far = [
            held("elsewhere", .branches, #"starts for changes only into "next""#),
            held("docs", .paths, #"starts only for changed files that match "docs/**""#),
        ]
        #expect(
            change.heldBack == [
                "refs/pull/7/head": [
                    held("test", .ignoredMessages, #"ignores commits whose message has "[skip ci]""#),
                    held("full", .messages, #"starts only for commits whose message has "[full]" or "[all]""#),
                ] + far
            ])
        #expect(decide(Self.moved(change: Self.change()), "[full]").heldBack == ["refs/pull/7/head": far])
        let branch = decide(Self.branch(), "Add it [no release]")
        #expect(branch.requests.isEmpty)
        #expect(branch.heldBack["refs/heads/main"]?.map(\.name) == ["push", "release"])
        #expect(branch.heldBack["refs/heads/main"]?.map(\.commit) == [Self.newTarget.hex, Self.newTarget.hex])
        let landing = LandedChange(change: "7", head: Self.head, commit: Self.newTarget, how: .merge)
        var landed = Self.moved(change: Self.change())
        landed.branches = Self.branch(landings: [landing]).branches
        #expect(decide(landed, "[skip ci]").heldBack["refs/pull/7/head"] == nil)
    }

    @Test func `what drafts, labels, branches and tags hold back is named, too`() {
        let workflows = [
            WorkflowDeclaration(name: "ready", triggers: [.pullRequest(into: "main", drafts: .ignored)]),
            WorkflowDeclaration(
                name: "labelled",
                triggers: [.pullRequest(into: "next"), .pullRequest(into: "main", labels: ["ci"])]),
            Self.push, Self.release, Self.tag,
        ]
        var change = Self.change()
        change.facts = ChangeFacts(
            title: "T", author: "ada", head: Self.head.hex, target: "main", isDraft: true, labels: ["x"])
        func held(_ observation: RefObservation) -> [String: [String]] {
            make(observation, declarations: workflows).heldBack.mapValues { held in
                held.map { "\($0.name): \($0.objection.filter)" }
            }
        }
        #expect(held(Self.moved(change: change)) == ["refs/pull/7/head": ["ready: drafts", "labelled: labels"]])
        // A change that is closed at the forge was not held back.
        change.facts?.isOpen = false
        #expect(held(Self.moved(change: change)) == ["refs/pull/7/head": []])
        #expect(held(Self.branch("next")) == ["refs/heads/next": ["push: branches", "release: branches"]])
        #expect(held(Self.branch("next", old: nil)) == ["refs/heads/next": ["push: branches"]])
        #expect(held(Self.tagged("x1")) == ["refs/tags/x1": ["tag: branches"]])
        #expect(held(Self.tagged("v1")).isEmpty)
    }

    private func make(
        _ observation: RefObservation, known: [ChangeRecord] = [], declarations: [WorkflowDeclaration]
    ) -> Decision {
        Decision.make(
            repository: "r", observation: observation, known: known, definition: { _ in .workflows(declarations) },
            commits: .unknown)
    }
}

/// Which refs are changes, over what forges publish and what somebody may push to fool them.
struct DecisionRefTests {
    static let kinds: [(ref: String, kind: ChangeRefs.Kind)] = [
        ("refs/heads/main", .branch("main")),
        ("refs/heads/feature/a", .branch("feature/a")),
        ("refs/heads/agent/fix", .change("agent/fix")),
        ("refs/heads/agent/a/b", .branch("agent/a/b")),
        ("refs/heads/agent", .branch("agent")),
        ("refs/tags/v1.0", .tag("v1.0")),
        ("refs/tags/agent/fix", .tag("agent/fix")),
        ("refs/pull/12/head", .change("12")),
        ("refs/pull/12/merge", .other),
        ("refs/merge-requests/3/head", .change("3")),
        ("refs/merge-requests/3/merge", .other),
        ("refs/pull-requests/4/from", .change("4")),
        ("refs/pull-requests/4/merge", .other),
        ("refs/heads/agent/7", .change("agent/7")),
        ("refs/pull//head", .other),
        ("refs/pull/head", .other),
        ("refs/pull/1/2/head", .other),
        ("refs/pull/12/head/x", .other),
        ("refs/pull/$(touch x)/head", .change("$(touch x)")),
        ("refs/heads/refs/pull/1/head", .branch("refs/pull/1/head")),
        ("refs/heads/-rf", .branch("-rf")),
        ("refs/heads/ä\u{202e}b", .branch("ä\u{202e}b")),
        ("refs/notes/pipectl", .other),
        ("refs/stash", .other),
        ("refs/remotes/origin/main", .other),
        ("HEAD", .other),
        ("", .other),
    ]

    @Test(arguments: kinds)
    func `a ref's place decides what it is`(_ row: (ref: String, kind: ChangeRefs.Kind)) throws {
        #expect(try ChangeRefs(branchPatterns: ["agent/*"]).kind(of: row.ref) == row.kind)
    }

    /// A number that two forges' refs give is two changes, unless one form alone is in use.
    @Test func `a number means one change`() throws {
        func refs(_ names: String...) -> RefTable {
            RefTable(names.map { (key: $0, value: DecisionTests.oid(1)) })
        }
        var rules = try ChangeRefs()
        #expect(rules.numbering(by: refs("refs/heads/main", "refs/pull/1/merge")) == nil)
        #expect(rules.numbering(by: refs("refs/merge-requests/1/head")) == "refs/merge-requests/")
        #expect(rules.numbering(by: refs("refs/pull/1/head", "refs/merge-requests/2/head")) == "")
        rules.numbered = "refs/pull/"
        #expect(rules.kind(of: "refs/pull/1/head") == .change("1"))
        #expect(rules.kind(of: "refs/merge-requests/1/head") == .change("merge-requests/1"))
        #expect(rules.kind(of: "refs/pull-requests/1/from") == .change("pull-requests/1"))
        #expect(rules.numbering(by: refs("refs/merge-requests/1/head")) == "refs/pull/", "it stays")
        #expect(rules.meanings(of: "1").map(\.name) == ["1", "merge-requests/1", "pull-requests/1"])
        #expect(rules.meanings(of: "pull/1").map(\.name) == ["1"])
        #expect(rules.meanings(of: "refs/merge-requests/1/head").map(\.name) == ["merge-requests/1"])
        rules.numbered = ""
        #expect(rules.kind(of: "refs/pull/1/head") == .change("pull/1"))
    }

    /// Nor does a branch take the name of a pull request, whose proofs and verdict would be its own.
    @Test(arguments: ["7", "pull/7", "merge-requests/7", "heads/7"])
    func `a branch is never named like a pull request`(_ name: String) throws {
        let rules = try ChangeRefs(branchPatterns: ["**"])
        #expect(rules.kind(of: "refs/heads/\(name)") == .change("heads/\(name)"))
        #expect(try ChangeRefs(branch: "heads/\(name)").kind(of: "refs/heads/\(name)") == .change("heads/\(name)"))
    }

    @Test func `without patterns every branch is a branch`() throws {
        #expect(try ChangeRefs().kind(of: "refs/heads/agent/fix") == .branch("agent/fix"))
    }

    @Test func `an unreadable pattern is refused`() {
        #expect(throws: GlobProblem.self) { try ChangeRefs(branchPatterns: ["agent/["]) }
    }
}
