import TestBasics
import TestSupport
import Results
import Foundation
import Git
import Pipeline
import Testing
@testable import Preparing
@testable import Watching

/// Who may run what, as a pure function: one row for each reason to ask, and for each reason not to.
struct TrustDecisionTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var facts: TrustFacts
        var policy: TrustPolicy
        var trust: Trust
        /// A part of the reason; nil: nobody is asked.
        var asks: String?
        var isForThisRun = false
    }

    static func facts(
        merged: String? = nil, release: Bool = false, worktree: Bool = false, name: String = "Ada",
        mail: String = "ada@example.com", paths: [String] = ["a.txt"], rule: ApprovalRule? = nil,
        task part: TaskRole.Part? = nil
    ) -> TrustFacts {
        var facts = TrustFacts(
            isWorkingTree: worktree, subject: "change 7 into main", mergedInto: merged, defaultBranch: "main",
            isRelease: release, author: Signature(name: name, email: mail, time: Date(timeIntervalSince1970: 0)),
            changedPaths: paths, rule: rule)
        facts.task = part.map { TaskRole(task: 1, part: $0, attempt: 1) }
        return facts
    }

    static func policy(authors: [String] = [], paths: [String] = []) -> TrustPolicy {
        do { return try TrustPolicy(allowedAuthors: authors, protectedPaths: paths) } catch {
            preconditionFailure("\(error)")
        }
    }

    static let rows = [
        Row(testDescription: "a change", facts: facts(), policy: policy(), trust: .change),
        Row(testDescription: "merged", facts: facts(merged: "main"), policy: policy(), trust: .merged),
        Row(
            testDescription: "a release of merged code", facts: facts(merged: "main", release: true),
            policy: policy(), trust: .merged),
        Row(
            testDescription: "a release of a change", facts: facts(release: true), policy: policy(), trust: .change,
            asks: "change 7 into main is not merged into main", isForThisRun: true),
        Row(
            testDescription: "a release of the person's own working tree", facts: facts(release: true, worktree: true),
            policy: policy(authors: ["nobody"], paths: ["**"]), trust: .change),
        Row(
            testDescription: "a working tree is no merged code, wherever its commit is",
            facts: facts(merged: "main", worktree: true), policy: policy(), trust: .change),
        Row(
            testDescription: "an agent of a task does what the target says", facts: facts(task: .working),
            policy: policy(authors: ["nobody"], paths: ["**"]), trust: .change),
        Row(
            testDescription: "what an agent made has no author who counts", facts: facts(task: .checking),
            policy: policy(authors: ["nobody"]), trust: .change),
        Row(
            testDescription: "what an agent made may touch what is protected", facts: facts(task: .checking),
            policy: policy(paths: ["a.txt"]), trust: .change, asks: "a.txt"),
        Row(
            testDescription: "what an agent made is no release", facts: facts(release: true, task: .checking),
            policy: policy(), trust: .change, asks: "change 7 into main is not merged into main", isForThisRun: true),
        Row(
            testDescription: "an author by address", facts: facts(), policy: policy(authors: ["*@example.com"]),
            trust: .change),
        Row(
            testDescription: "an author by address in capitals", facts: facts(mail: "Ada@Example.COM"),
            policy: policy(authors: ["*@example.com"]), trust: .change),
        Row(
            testDescription: "an author by name", facts: facts(mail: "x@y"), policy: policy(authors: ["Ada"]),
            trust: .change),
        Row(
            testDescription: "another author", facts: facts(name: "Mallory", mail: "m@evil.example"),
            policy: policy(authors: ["*@example.com", "Ada"]), trust: .change,
            asks: "Mallory <m@evil.example> is not among"),
        Row(
            testDescription: "an address that only ends like it", facts: facts(mail: "m@example.com.evil"),
            policy: policy(authors: ["*@example.com"]), trust: .change, asks: "not among"),
        Row(
            testDescription: "another author whose change was merged", facts: facts(merged: "main", name: "Mallory"),
            policy: policy(authors: ["Ada"]), trust: .merged),
        Row(
            testDescription: "a protected path", facts: facts(paths: ["Sources/a.swift", "Package.swift"]),
            policy: policy(paths: ["Package.swift"]), trust: .change, asks: "it changes Package.swift, which"),
        Row(
            testDescription: "a path that the definition protects", facts: facts(paths: ["workflows/x.swift"]),
            policy: policy(), trust: .change, asks: "workflows/x.swift"),
        Row(
            testDescription: "attributes of a protected path",
            facts: facts(paths: [".gitattributes", "docs/.gitattributes"]),
            policy: policy(paths: ["deploy/**"]), trust: .change, asks: "it changes .gitattributes, which controls"),
        Row(
            testDescription: "attributes beside a protected path", facts: facts(paths: ["deploy/live/.gitattributes"]),
            policy: policy(paths: ["deploy/**/*.sh"]), trust: .change, asks: "deploy/live/.gitattributes"),
        Row(
            testDescription: "attributes of other folders", facts: facts(paths: ["docs/.gitattributes"]),
            policy: policy(paths: ["deploy/**"]), trust: .change),
        Row(
            testDescription: "attributes where nothing is protected", facts: facts(paths: [".gitattributes"]),
            policy: policy(), trust: .change),
        Row(
            testDescription: "settings that were merged", facts: facts(merged: "main", paths: ["CLAUDE.md"]),
            policy: policy(), trust: .merged),
        Row(
            testDescription: "protected paths that were merged", facts: facts(merged: "main", paths: ["Package.swift"]),
            policy: policy(paths: ["**"]), trust: .merged),
        Row(
            testDescription: "a workflow that always asks, merged",
            facts: facts(merged: "main", rule: ApprovalRule(isAlways: true)), policy: policy(), trust: .merged,
            asks: "approval for every run", isForThisRun: true),
        Row(
            testDescription: "two reasons at once", facts: facts(release: true, name: "Mallory", mail: "m@x"),
            policy: policy(authors: ["Ada"]), trust: .change, asks: "; its author Mallory", isForThisRun: true),
    ].map { row in
        var row = row
        if row.testDescription == "a path that the definition protects" {
            row.facts.rule = ApprovalRule(paths: ["workflows/**"])
        }
        return row
    }

    @Test(arguments: rows)
    func `each set of facts leads to its decision`(row: Row) {
        let decision = TrustDecision.make(row.facts, row.policy)
        #expect(decision.trust == row.trust)
        switch (decision.ruling, row.asks) {
        case (.allowed, nil): break
        case (.needsApproval(let why, let isForThisRun), let part?):
            #expect(why.contains(part), "\(why)")
            #expect(isForThisRun == row.isForThisRun)
        default: Issue.record("\(decision.ruling)")
        }
    }

    @Test(arguments: [
        "CLAUDE.md", "sub/claude.md", "AGENTS.md", "GEMINI.md", ".mcp.json", ".claude/settings.json", ".claude",
        "a/.cursor/rules/x.mdc", ".codex/config.toml", ".github/workflows/x.yml", ".GitHub/workflows/x.yml", ".github",
        ".gitlab-ci.yml", ".gitea/workflows/x.yml", ".forgejo/workflows/x.yml", "CODEOWNERS", ".vscode/mcp.json",
    ])
    func whatAgentsOrForgesObeyIsAPersons(_ path: String) {
        let decision = TrustDecision.make(Self.facts(paths: ["a.txt", path]), Self.policy())
        guard case .needsApproval(let why, let isForThisRun) = decision.ruling else {
            Issue.record("\(path): \(decision.ruling)")
            return
        }
        #expect(why.contains("it changes \(path), which configures agents or forges") && !isForThisRun)
    }

    @Test(arguments: [
        "Sources/claude.swift", "docs/agents.html", "vendor/x/.github/workflows/x.yml", ".gitignore",
        "a/.gitlab-ci.yml",
        ".vscode/settings.json",
    ])
    func whatTheyDoNotObeyIsNot(_ path: String) {
        #expect(TrustDecision.make(Self.facts(paths: [path]), Self.policy()).ruling == .allowed)
    }

    @Test func `a daemon that runs no changes refuses them and runs the rest`() {
        var policy = TrustPolicy.standard
        policy.refusal = "no sandbox here"
        #expect(TrustDecision.make(Self.facts(), policy).ruling == .refused(why: "no sandbox here"))
        #expect(TrustDecision.make(Self.facts(merged: "main"), policy).ruling == .allowed)
        #expect(TrustDecision.make(Self.facts(worktree: true), policy).ruling == .allowed)
    }

    @Test func `only commits on a protected branch count as merged`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/repo"
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                git commit -q --allow-empty -m one; git tag one
                git commit -q --allow-empty -m two
                git checkout -q -b release/1 one; git commit -q --allow-empty -m maintained; git tag maintained
                git checkout -q -b topic main; git commit -q --allow-empty -m topic; git tag topic-tip
                # An object that no ref has ever held.
                git tag imposter $(git commit-tree -m imposter -p main "HEAD^{tree}")
                git checkout -q --detach main
                """, path)
            let policy = try TrustPolicy(protected: ["release/*"])
            let changes = try ChangeRefs(branchPatterns: ["release/1"])
            try await withRepository(at: path) { repository in
                let snapshot = try repository.snapshot()
                let main = TargetRule(remembered: TargetBranch("main", .head))
                func read(
                    _ policy: TrustPolicy, _ changes: ChangeRefs = .standard, target: TargetRule? = nil
                ) -> ProtectedBranches {
                    ProtectedBranches.read(
                        snapshot, TrustRules(policy: policy, changeRefs: changes, target: target ?? main))
                }
                let protected = read(policy)
                func holder(_ tag: String, _ protected: ProtectedBranches) throws -> String? {
                    try protected.holder(of: #require(snapshot.refs["refs/tags/\(tag)"]), in: repository)
                }
                #expect(protected.tips.map(\.branch) == ["main", "release/1"])
                #expect(try holder("one", protected) == "main")
                #expect(try holder("maintained", protected) == "release/1")
                #expect(try holder("topic-tip", protected) == nil)
                #expect(try holder("imposter", protected) == nil, "the object is there, and that says nothing")
                let gone = try #require(OID(hex: String(repeating: "7", count: 40)))
                #expect(try protected.holder(of: gone, in: repository) == nil)
                let standard = read(.standard)
                #expect(try holder("maintained", standard) == nil)
                let asChange = read(policy, changes)
                #expect(asChange.tips.map(\.branch) == ["main"], "a branch that is a change protects nothing")
                let target = read(.standard, target: TargetRule(named: "topic", remembered: main.remembered))
                #expect(try holder("topic-tip", target) == "topic")
                let late = TargetRule(named: "topic", remembered: main.remembered, missing: "topic")
                #expect(try holder("topic-tip", read(.standard, target: late)) == nil, "pushed after it was named")
                #expect(late.branch(in: snapshot.refs)?.name == "main")
                #expect(late.advice(for: "r", head: "main", refs: snapshot.refs)?.contains("protect topic") == true)
                let guess = read(.standard, target: TargetRule(remembered: TargetBranch("main", .guess)))
                #expect(try holder("one", guess) == nil, "a guess protects nothing")
                #expect(guess.defaultTip == snapshot.refs["refs/heads/main"], "but it is tested with")
            }
        }
    }
}
