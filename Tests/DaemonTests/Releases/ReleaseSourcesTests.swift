import Delivery
import Foundation
import Pipeline
import Results
import Store
import TestBasics
import Testing
import Watching

@testable import Daemon

/// What a repository says about the commit of a release.
@Suite(.timeLimit(.minutes(1))) struct ReleaseSourcesTests {
    private struct Ground {
        let repository: TestRepository
        let index: Store.Index
        let sources: RepositoryReleaseSources
        let name: String

        init(in folder: String) async throws {
            repository = try await TestRepository.make(at: "\(folder)/app")
            index = try Store.Index.inMemory()
            let repositories = KnownRepositories(
                registry: RepositoryRegistry(index: index, mirrors: "\(folder)/mirrors"), index: index,
                watchers: Watchers(), mirrors: "\(folder)/mirrors", trust: .standard)
            name = try await repositories.open(repository.path).name
            sources = RepositoryReleaseSources(repositories: repositories, index: index)
        }

        func basis(_ commit: String, lastTag: String? = nil) -> ReleaseBasis {
            ReleaseBasis(
                run: 1, repository: name, workflow: "release",
                version: ReleaseVersion(version: "1.0", buildNumber: 4, tag: "v1.0"), commit: commit, tree: "",
                committedAt: Date(timeIntervalSince1970: 100),
                definition: .init(commit: commit, tree: "", toolchain: ""), parameters: [:],
                plan: Plan(workflow: "release", steps: []), trust: .merged,
                startedAt: Date(timeIntervalSince1970: 90), ref: "refs/heads/main", lastTag: lastTag, pipectl: "1",
                builder: "")
        }
    }

    @Test func `a change whose branch was deleted is in the notes, with the issues that all its commits name`()
        async throws
    {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let repository = ground.repository
            _ = try await repository.commit(["a": "1"], "First")
            _ = try await repository.git("tag", "v0.9")
            _ = try await repository.git("checkout", "-q", "-b", "greet")
            _ = try await repository.commit(["b": "1"], "Greet by name\n\nFixes #12")
            let head = try await repository.commit(["b": "2"], "Greet twice")
            _ = try await repository.git("checkout", "-q", "main")
            _ = try await repository.commit(["c": "1"], "Beside, for #99")
            _ = try await repository.git("merge", "-q", "--no-ff", "-m", "Merge greet\n\nCloses #7", "greet")
            _ = try await repository.git("branch", "-q", "-D", "greet")
            let merge = try await repository.git("rev-parse", "HEAD").trimmingCharacters(in: .whitespacesAndNewlines)
            let basis = ground.basis(merge, lastTag: "v0.9")
            let unknown = try await ground.sources.landed(basis).list.map(\.title)
            #expect(unknown == ["Beside, for #99", "Merge greet"], "nobody knows the change")
            try await ground.index.setChange(
                ChangeRecord(
                    name: "greet", target: "main", head: head, targetCommit: nil, state: .landed, title: "Greet",
                    author: "ada", landedCommit: merge, recognition: .merge),
                of: ground.name)
            let notes = try await ground.sources.landed(basis).list
            #expect(notes.map(\.title) == ["Greet twice", "Beside, for #99"])
            #expect(notes.first?.change == "greet")
            #expect(notes.map { $0.issues.sorted() } == [[7, 12], [99]])
            #expect(
                try await ground.sources.landed(ground.basis(merge)).list.map(\.title)
                    == ["Greet twice", "First", "Beside, for #99"], "of the first release")
        }
    }

    @Test(arguments: [true, false]) func `the commits of a change that landed by fast-forward are one line`(
        isTested: Bool
    ) async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let repository = ground.repository
            _ = try await repository.commit(["a": "1"], "First")
            _ = try await repository.git("tag", "v0.9")
            let tip = try await repository.commit(["a": "2"], "Beside")
            _ = try await repository.commit(["b": "1"], "Greet by name\n\nFixes #12")
            _ = try await repository.commit(["b": "2"], "Greet by both names")
            let head = try await repository.commit(["b": "3"], "Greet twice")
            try await ground.index.setChange(
                ChangeRecord(
                    name: "greet", target: "main", head: head, targetCommit: isTested ? tip : nil, state: .landed,
                    title: "Greet", author: "ada", landedCommit: head, recognition: .fastForward),
                of: ground.name)
            let notes = try await ground.sources.landed(ground.basis(head, lastTag: "v0.9")).list
            // Without a test nothing says where it began.
            let rest = isTested ? ["Beside"] : ["Beside", "Greet by name", "Greet by both names"]
            #expect(notes.map(\.title) == ["Greet twice"] + rest)
            #expect(notes.first?.issues == (isTested ? [12] : []))
        }
    }

    @Test func `a first release lists the newest commits, and counts those before`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            var head = ""
            for number in 1...53 { head = try await ground.repository.commit(["a": "\(number)"], "Commit \(number)") }
            let notes = try await ground.sources.landed(ground.basis(head))
            #expect(notes.list.map(\.title) == (4...53).map { "Commit \($0)" })
            #expect(notes.older == 3)
            _ = try await ground.repository.git("tag", "v0.9", "HEAD~52")
            let later = try await ground.sources.landed(ground.basis(head, lastTag: "v0.9"))
            #expect(later.list.count == 52 && later.older == 0)
        }
    }

    @Test(arguments: [true, false])
    func `notes after a version that was withdrawn begin before it`(hasOlderTag: Bool) async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let repository = ground.repository
            _ = try await repository.commit(["a": "1"], "First")
            if hasOlderTag { _ = try await repository.git("tag", "v0.8") }
            let withdrawn = try await repository.commit(["a": "2"], "Second")
            _ = try await repository.git("tag", "v0.9")
            let head = try await repository.commit(["a": "3"], "Third")
            _ = try await ground.index.addRelease(
                ReleaseRecord(
                    repository: ground.name, version: ReleaseVersion(version: "0.9", buildNumber: 2, tag: "v0.9"),
                    commit: withdrawn, tree: "", committedAt: Date(timeIntervalSince1970: 50), workflow: "release",
                    run: 1, madeAt: Date(timeIntervalSince1970: 60), state: .yanked, notes: "", files: []))
            let notes = try await ground.sources.landed(ground.basis(head, lastTag: "v0.9")).list
            #expect(notes.map(\.title) == (hasOlderTag ? [] : ["First"]) + ["Second", "Third"])
        }
    }

    @Test(arguments: [
        ("Merge branch 'feature'", 1, "Part 1"), ("Merge branch 'feature'", 2, "Merge branch 'feature'"),
        ("Merge branch 'feature' into 'main'\n\nGreet by name\n\nSee merge request a/b!4", 2, "Greet by name"),
        ("Merge pull request #4 from a/feature\n\nGreet by name", 2, "Greet by name"),
        ("Merge branch 'feature'\n\nCloses #4", 1, "Part 1"), ("Greet by name\n\nAll of it.", 1, "Greet by name"),
        ("Merge branch 'feature'\n\nSigned-off-by: ada", 1, "Part 1"),
        ("Merge branch 'feature'\n\nCo-Authored-By: Ada <ada@example.com>", 1, "Part 1"),
        ("Merge branch 'feature'\n\nChange-Id: I0123", 1, "Part 1"),
        ("Merge branch 'feature'\n\nCloses #4, #5 and #6.", 1, "Part 1"),
        ("Merge branch 'feature'\n\nFollow-up: greet by name", 1, "Follow-up: greet by name"),
    ])
    func `a merge of a branch that is no known change tells what it brought`(message: String, count: Int, title: String)
        async throws
    {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let repository = ground.repository
            _ = try await repository.commit(["a": "1"], "First")
            _ = try await repository.git("tag", "v0.9")
            _ = try await repository.git("checkout", "-q", "-b", "feature")
            for number in 1...count {
                _ = try await repository.commit(["b": "\(number)"], "Part \(number)\n\nFixes #\(40 + number)")
            }
            _ = try await repository.git("commit", "-q", "--amend", "--no-edit", "--author", "Grace <g@example.com>")
            _ = try await repository.git("checkout", "-q", "main")
            _ = try await repository.git("merge", "-q", "--no-ff", "-m", message, "feature")
            _ = try await repository.git("branch", "-q", "-D", "feature")
            let merge = try await repository.git("rev-parse", "HEAD").trimmingCharacters(in: .whitespacesAndNewlines)
            let notes = try await ground.sources.landed(ground.basis(merge, lastTag: "v0.9")).list
            #expect(notes.map(\.title) == [title])
            #expect(notes.map(\.author) == ["Grace"])
            #expect(Set(notes.flatMap(\.issues)).isSuperset(of: (1...count).map { 40 + $0 }))
        }
    }

    /// What a release before was, and whether the next one's notes begin after it.
    struct Earlier: Sendable {
        var version = "0.9"
        var workflow = "release"
        var state = ReleaseRecord.State.published
        var publications = [PublicationRecord.State.released]
        var counts: Bool
    }

    @Test(arguments: [
        Earlier(counts: true), Earlier(publications: [.begun], counts: false), Earlier(publications: [], counts: false),
        Earlier(publications: [.begun, .processing], counts: true), Earlier(publications: [.refused], counts: false),
        Earlier(publications: [.refused, .released], counts: true), Earlier(version: "1.0-rc.1", counts: false),
        Earlier(workflow: "nightly", counts: false), Earlier(state: .yanked, counts: false),
    ])
    func `notes begin after the last release that its users had`(earlier: Earlier) async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let build = Step("build", run: "make")
            let release = Release(version: .tag(), needs: build)
            var basis = ground.basis("c")
            basis.plan = Plan(
                workflow: "release",
                steps: [build, release.step, Step.publish("out", release, to: .folder("/x"))].map(\.planned))
            var record = ReleaseRecord(
                repository: ground.name,
                version: ReleaseVersion(version: earlier.version, buildNumber: 3, tag: "v\(earlier.version)"),
                commit: "b", tree: "", committedAt: Date(timeIntervalSince1970: 50), workflow: earlier.workflow, run: 1,
                madeAt: Date(timeIntervalSince1970: 60), state: earlier.state, notes: "", files: [])
            record.publications = earlier.publications.map {
                PublicationRecord(
                    step: "out", destination: "in a folder", state: $0, address: nil, install: nil, updatedAt: Date())
            }
            #expect(basis.follows(record) == earlier.counts)
            // The users of a candidate had the one before.
            basis.version.version = "1.0-rc.2"
            #expect(basis.follows(record) == (earlier.counts || earlier.version == "1.0-rc.1"))
            // Without a step that publishes, a person takes the files.
            basis.plan.steps.removeLast()
            if earlier.workflow == "release", earlier.state != .yanked { #expect(basis.follows(record)) }
        }
    }

    @Test(
        arguments: [
            ("git@git.example.com:o/app.git", "https://git.example.com/o/app"),
            ("https://ada:secret@git.example.com/o/app", "https://git.example.com/o/app"), ("/srv/app.git", nil),
            (nil, nil),
        ] as [(String?, String?)])
    func `a repository has the address of its origin, without names and passwords`(origin: String?, address: String?)
        async throws
    {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let commit = try await ground.repository.commit(["a": "1"], "First")
            if let origin { _ = try await ground.repository.git("remote", "add", "origin", origin) }
            #expect(try await ground.sources.address(ground.basis(commit)) == address)
        }
    }

    @Test func `the files of its commit are found by their names`() async throws {
        try await withTemporaryFolder { folder in
            let ground = try await Ground(in: folder)
            let commit = try await ground.repository.commit(
                ["a/b/Package.resolved": "1", "Package.resolved": "2", "Package.resolved.txt": "3"], "First")
            _ = try await ground.repository.commit(["c/Package.resolved": "4"], "Second")
            let paths = try await ground.sources.paths(named: ["Package.resolved"], ground.basis(commit))
            #expect(paths.sorted() == ["Package.resolved", "a/b/Package.resolved"])
            #expect(try await ground.sources.file("a/b/Package.resolved", ground.basis(commit)) == Data("1".utf8))
        }
    }
}
