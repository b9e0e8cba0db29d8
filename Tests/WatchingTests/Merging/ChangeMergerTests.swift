import TestBasics
import Results
import Foundation
import Git
import LandedChanges
import Pipeline
import TestSupport
import Testing

import Sandbox
@testable import Watching

/// The tested tree is the one that Git makes.
@Suite(.timeLimit(.minutes(5))) struct ChangeMergerTests {
    /// What plain Git says in a repository: the tree, or the files that conflict.
    private func wanted(
        _ pair: MergePair, in path: String
    ) async throws -> (isClean: Bool, tree: String, conflicts: Set<String>) {
        let result = try await ExternalCommand(
            "git",
            ["merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", pair.target.hex, pair.head.hex],
            in: path,
            environment: ["PATH": "/usr/bin:/bin:/usr/local/bin", "GIT_CONFIG_NOSYSTEM": "1", "HOME": path]
        ).run()
        let fields = result.text.split(separator: "\0").map(String.init)
        return (result.succeeded, fields.first ?? "", result.succeeded ? [] : Set(fields.dropFirst()))
    }

    /// Renames, moved folders, modes, both sides' edits and criss-cross merges.
    @Test(arguments: 1...6) func `random histories merge as Git merges them`(seed: Int) async throws {
        try await withTemporaryFolder { folder in
            let history = try RandomHistory(at: "\(folder)/origin.git", seed: seed, rounds: 12)
            let store = "\(folder)/store.git"
            _ = try Repository.create(bareAt: store, borrowing: history.path)
            let merger = try await ChangeMerger.find()
            try #require(merger.isGit)
            let path = try await MergingGit.find().path
            let older = try ChangeMerger(git: #require(MergingGit(path: path, versionText: "git version 2.38.1")))
            for pair in history.pairs {
                let wanted = try await wanted(pair, in: history.path)
                let outcome = try await merger.merge(pair, storingIn: store)
                #expect(try await older.merge(pair, storingIn: store) == outcome, "the form of Git 2.38")
                switch outcome {
                case .merged(let tree):
                    #expect(wanted.isClean && tree.hex == wanted.tree)
                    let isWhole = try await withRepository(at: store) { store in
                        try store.entries(ofTree: tree, recursive: true).allSatisfy { store.contains($0.id) }
                    }
                    #expect(isWhole, "all of it is in the store")
                case .conflicts(let conflicts):
                    // Where a folder was moved to several places Git lists no file; then the folder is named.
                    #expect(!wanted.isClean && !conflicts.isEmpty)
                    #expect(wanted.conflicts.isEmpty || Set(conflicts.map(\.path)) == wanted.conflicts)
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(store)/scratch") == [])
        }
    }

    /// A change that both sides edit, with attributes and settings that would have Git run a program for it.
    @Test func `neither attributes nor settings choose how Git merges`() async throws {
        try await withTemporaryFolder { folder in
            let repository = "\(folder)/repo"
            try await runCommand(
                "sh", "-ec",
                """
                git init -q -b main "$0"; cd "$0"
                git config user.name Ada; git config user.email ada@example.com
                echo '* merge=evil' > .gitattributes; echo 0 > a; git add .; git commit -qm base
                git checkout -qb side; echo 1 > a; git commit -qam side
                git checkout -q main; echo 2 > a; git commit -qam main
                git config merge.evil.driver "touch $0/ran; cat %B > %A"
                echo '* merge=evil' > .git/info/attributes
                """, repository)
            let tips = try await withRepository(at: repository) { try $0.snapshot().refs }
            let pair = MergePair(
                try #require(tips["refs/heads/side"]), into: try #require(tips["refs/heads/main"]))
            let store = "\(folder)/store.git"
            _ = try Repository.create(bareAt: store, borrowing: repository)
            let outcome = try await ChangeMerger.find().merge(pair, storingIn: store)
            #expect(outcome == .conflicts([MergeConflict(path: "a", kind: "both modified")]))
            #expect(!FileManager.default.fileExists(atPath: "\(repository)/ran"))
        }
    }

    @Test func `a Git that hangs is ended and no other way of merging replaces it`() async throws {
        try await withTemporaryFolder { folder in
            let history = try RandomHistory(at: "\(folder)/origin.git", seed: 1, rounds: 1)
            let script = "\(folder)/git"
            try "#!/bin/sh\nexec sleep 600\n".write(toFile: script, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script)
            var merger = try ChangeMerger(git: #require(MergingGit(path: script, versionText: "git version 2.39.5")))
            merger.limits.deadline = .milliseconds(300)
            let pair = try #require(history.pairs.first)
            await #expect(throws: MergeFailure.self) { try await merger.merge(pair, storingIn: history.path) }
            let question = LandingQuestion(pair: pair, tree: pair.head)
            let confirmed = try await merger.confirmed([question], objects: history.path, scratch: "\(folder)/scratch")
            #expect(confirmed == [], "no answer is no yes")
        }
    }

    @Test func `a merge that hangs fails alone`() async throws {
        try await withTemporaryFolder { folder in
            let history = try RandomHistory(at: "\(folder)/origin.git", seed: 3, rounds: 12)
            let slow = try #require(OID(hex: String(repeating: "7", count: 40)))
            let git = try await MergingGit.find().path
            // Like a Git that is at work: it has printed nothing yet when it is ended.
            let text = """
                #!/bin/sh
                input=$(cat)
                case $input in *\(slow.hex)*) exec sleep 600 ;; esac
                printf '%s\\n' "$input" | exec '\(git)' "$@"
                """
            try text.write(toFile: "\(folder)/git", atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: "\(folder)/git")
            var merger = try ChangeMerger(
                git: #require(MergingGit(path: "\(folder)/git", versionText: "git version 2.39.5")))
            (merger.limits.deadline, merger.limits.singleDeadline) = (.seconds(5), .seconds(5))
            var questions: [LandingQuestion] = []
            for pair in history.pairs.prefix(6) {
                let wanted = try await wanted(pair, in: history.path)
                guard wanted.isClean, let tree = OID(hex: wanted.tree) else { continue }
                questions.append(LandingQuestion(pair: pair, tree: tree))
            }
            try #require(!questions.isEmpty)
            let hanging = LandingQuestion(pair: MergePair(slow, into: questions[0].pair.target), tree: slow)
            let confirmed = try await merger.confirmed(
                questions + [hanging], objects: history.path, scratch: "\(folder)/scratch")
            #expect(confirmed == Set(questions))
        }
    }

    @Test func `a missing object fails one merge alone`() async throws {
        try await withTemporaryFolder { folder in
            let history = try RandomHistory(at: "\(folder)/origin.git", seed: 3, rounds: 12)
            let merger = try await ChangeMerger.find()
            var questions: [LandingQuestion] = []
            for pair in history.pairs {
                let wanted = try await wanted(pair, in: history.path)
                guard wanted.isClean, let tree = OID(hex: wanted.tree) else { continue }
                questions.append(LandingQuestion(pair: pair, tree: tree))
            }
            try #require(!questions.isEmpty)
            let missing = try #require(OID(hex: String(repeating: "7", count: 40)))
            let lost = LandingQuestion(pair: MergePair(missing, into: questions[0].pair.target), tree: missing)
            let other = LandingQuestion(pair: questions[0].pair, tree: missing)
            let confirmed = try await merger.confirmed(
                [lost, other] + questions, objects: history.path, scratch: "\(folder)/scratch")
            #expect(confirmed == Set(questions))
        }
    }

    @Test(arguments: [
        ("git version 2.37.9", nil), ("git version 2.38.0", "2.38.0"), ("git version 2.50.1 (Apple Git-155)", "2.50.1"),
        ("git version 3.0", "3.0"), ("nonsense", nil), ("", nil),
    ])
    func versions(text: String, version: String?) {
        #expect(MergingGit(path: "/git", versionText: text)?.version == version)
    }

    @Test func `without Git the report says which library merged`() async throws {
        try await withTemporaryFolder { folder in
            let none = try await ChangeMerger.find(environment: ["PATH": folder])
            #expect(!none.isGit)
            // A clean merge in this history; the seed is one of many.
            let history = try RandomHistory(at: "\(folder)/origin.git", seed: 3, rounds: 12)
            var clean: MergePair?
            for pair in history.pairs where clean == nil {
                if try await wanted(pair, in: history.path).isClean { clean = pair }
            }
            let pair = try #require(clean)
            let request = RunRequest(
                repository: "repo", workflow: "test", event: .pullRequest, ref: "refs/heads/x", branch: "main",
                head: pair.head.hex, definitionCommit: pair.target.hex,
                change: Change(
                    name: "x", head: pair.head.hex, target: "main", targetCommit: pair.target.hex, title: "",
                    author: ""), subject: "change x", concurrency: .supersede)
            let byGit = try await TestedCommit.make(request, store: history.path)
            #expect(byGit?.notes.map(\.rule) == [])
            let byLibrary = try await TestedCommit.make(request, store: history.path, merger: none)
            #expect(byLibrary?.notes.map(\.rule) == ["libgit2-merge"])
        }
    }
}
