import TestBasics
import TestSupport
@testable import Results
import Foundation
import Git
import Pipeline
import Testing
@testable import Preparing

/// Whether a change brings files that a step does not declare, in real trees.
struct UndeclaredChangesTests {
    private static let target = [
        "Makefile": "all:", "src/a": "a", "src/deep/b": "b", "docs/c": "c", "docs/d": "d",
    ]

    /// The changed files, nil for one that goes; the patterns; and the path that is named.
    static let cases: [([String: String?], [String], String?)] = [
        ([:], ["src"], nil),
        (["src/a": "a2"], ["src"], nil),
        (["src/a": "a2"], ["src/**"], nil),
        (["src/a": "a2", "src/new/x": "x"], ["src/**", "Makefile"], nil),
        (["src/a": nil], ["src/**"], nil),
        (["src/deep/b": nil], ["src"], nil),
        (["src/deep": "a file now", "src/deep/b": nil], ["src"], nil),
        (["Makefile": nil], ["Makefile", "src"], nil),
        (["src/.gitattributes": "* text"], ["src/a"], nil),
        (["src/a": "a2", "GNUmakefile": "all:"], ["src/**", "Makefile"], "GNUmakefile"),
        (["src/a": "a2"], ["src/deep/**"], "src/a"),
        (["src/a": nil], ["src/deep/**"], "src/a"),
        (["docs/c": "c2"], ["src"], "docs/c"),
        (["docs/c": nil, "docs/d": nil], ["src"], "docs/c"),
        (["docs/c": nil, "docs/d": nil, "docs": "a file now"], ["src"], "docs"),
        (["Makefile": nil, "Makefile/x": "x"], ["src"], "Makefile"),
        // A folder with names that may not be told apart counts as one: whole in the key, or not at all.
        (["bad\u{FFFD}/x": "x"], ["src"], nil),
        (["docs/bad\u{FFFD}": "x"], ["src"], "docs"),
    ]

    @Test(arguments: cases)
    func `a file that no pattern names is found`(edit: [String: String?], patterns: [String], path: String?)
        async throws
    {
        try await withTemporaryFolder { folder in
            _ = try Repository.create(bareAt: folder + "/repo.git")
            try await withRepository(at: folder + "/repo.git") { git throws in
                func tree(_ files: [String: String]) throws -> OID {
                    try git.createTree(files.mapValues { .blob(try git.createBlob(Array($0.utf8))) })
                }
                var files = Self.target
                for (path, text) in edit { files[path] = text }
                let changes = UndeclaredChanges(repository: git, patterns: patterns)
                let found = try changes.first(in: tree(files), against: tree(Self.target))
                #expect(found == path, "\(edit)")
            }
        }
    }

    @Test func `a proof is valid for another tree only against the same target`() async throws {
        try await withTemporaryFolder { folder in
            _ = try Repository.create(bareAt: folder + "/repo.git")
            try await withRepository(at: folder + "/repo.git") { git throws in
                func tree(_ files: [String: String]) throws -> OID {
                    try git.createTree(files.mapValues { .blob(try git.createBlob(Array($0.utf8))) })
                }
                let author = Signature(name: "Ada", email: "ada@example.com", time: .init(timeIntervalSince1970: 0))
                let base = try git.createCommit(
                    tree: tree(Self.target), parents: [], author: author, committer: author, message: "one")
                let tested = try tree(Self.target.merging(["src/a": "a2"]) { $1 })
                let poisoned = try tree(Self.target.merging(["src/a": "a2", "hidden": "x"]) { $1 })
                var declared = PlannedStep(name: "s", action: .shell("x"))
                declared.inputs = ["src/**"]
                let plan = Plan(workflow: "w", steps: [declared, PlannedStep(name: "whole", action: .shell("x"))])
                func breach(_ step: String, _ tree: OID, target: String = "main", of commit: OID) -> ProofConfinement
                    .Breach?
                {
                    let proof = ProofSearch.Found(
                        step: ProvedStep(
                            citation: ProofCitation(run: 1, attempt: 1, step: step),
                            key: StepKey(value: "k", definition: "d", parts: [:])),
                        scope: ProofScope.change("7"), tree: tree.hex,
                        change: Change(
                            name: "7", head: "", target: target, targetCommit: commit.hex, title: "", author: ""))
                    let programSandbox = ProofConfinement(repository: git, plan: plan, target: "main")
                    return programSandbox.breaches(of: [step: proof])[step]
                }
                func ownBreach(_ step: String, _ tree: OID, of commit: OID?) -> ProofConfinement.Breach? {
                    let change = commit.map {
                        Change(name: "7", head: "", target: "main", targetCommit: $0.hex, title: "", author: "")
                    }
                    let programSandbox = ProofConfinement(repository: git, plan: plan, target: "main")
                    return programSandbox.breaches(ofFailed: [step], in: tree, of: change)[step]
                }
                #expect(ownBreach("s", tested, of: base) == nil)
                #expect(ownBreach("s", poisoned, of: base) == .undeclared(path: "hidden"))
                #expect(ownBreach("s", tested, of: nil) == .noTarget)
                #expect(ownBreach("whole", poisoned, of: nil) == nil, "its key holds the whole tree")
                #expect(breach("s", tested, of: base) == nil)
                #expect(breach("s", poisoned, of: base) == .undeclared(path: "hidden"))
                #expect(breach("whole", poisoned, of: base) == nil, "its key holds the file")
                #expect(breach("s", tested, target: "other", of: base) == .noTarget)
                guard case .unreadable = breach("s", tested, of: tested) else {
                    return #expect(Bool(false), "the target is no commit")
                }
            }
        }
    }
}
