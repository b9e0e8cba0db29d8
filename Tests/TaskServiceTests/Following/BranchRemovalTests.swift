import TestBasics
import Testing

@testable import TaskService
@testable import Watching

/// The branch of a task is removed once its change has landed, and never with somebody's work in it.
@Suite(.timeLimit(.minutes(2))) struct BranchRemovalTests {
    private static let branch = "pipectl/task-1"

    private struct Place {
        let repository: TestRepository
        let watched: WatchedRepository
        /// What pipectl pushed.
        let pushed: String

        func remove(_ branch: String = BranchRemovalTests.branch, at commit: String? = nil) async throws
            -> TaskChanges.Removal
        {
            try await BranchRemoval(
                repository: watched, branch: branch, commit: commit ?? pushed, target: "main"
            ).run()
        }

        func branches() async throws -> [Substring] {
            try await repository.git("for-each-ref", "--format=%(refname:short)", "refs/heads/").split(separator: "\n")
        }
    }

    private func withPlace(_ body: (Place) async throws -> Void) async throws {
        try await withTemporaryFolder { folder in
            let repository = try await TestRepository.make(at: "\(folder)/app")
            let base = try await repository.commit(["a": "1\n"], "Base")
            try await repository.git("checkout", "-q", "-b", Self.branch)
            let pushed = try await repository.commit(["a": "2\n"], "Task")
            try await repository.git("checkout", "-q", "main")
            try await repository.git("checkout", "-q", "--detach", base)
            let watched = WatchedRepository(
                name: "app", location: repository.path, gitDirectory: "\(repository.path)/.git",
                store: "\(repository.path)/.git", isRemote: false)
            try await body(Place(repository: repository, watched: watched, pushed: pushed))
        }
    }

    @Test func `the branch goes, and a second removal finds nothing to do`() async throws {
        try await withPlace { place in
            let removal = try await place.remove()
            #expect(removal == .removed)
            #expect(try await place.branches() == ["main"])
            #expect(try await place.remove() == .leftAlone)
        }
    }

    @Test func `a commit on top keeps the branch`() async throws {
        try await withPlace { place in
            try await place.repository.git("checkout", "-q", Self.branch)
            let mine = try await place.repository.commit(["b": "1\n"], "By hand")
            try await place.repository.git("checkout", "-q", "--detach")
            #expect(try await place.remove() == .leftAlone)
            #expect(try await place.repository.git("rev-parse", Self.branch) == mine)
        }
    }

    @Test func `a commit that is not seen yet keeps the branch`() async throws {
        try await withPlace { place in
            // A clone that is older than the repository, as a mirror may be.
            let mirror = "\(place.repository.path)-mirror"
            try await place.repository.git("clone", "-q", "--mirror", place.repository.path, mirror)
            try await place.repository.git("checkout", "-q", Self.branch)
            let mine = try await place.repository.commit(["b": "1\n"], "By hand")
            try await place.repository.git("checkout", "-q", "--detach")
            let watched = WatchedRepository(
                name: "app", location: place.repository.path, gitDirectory: mirror, store: mirror, isRemote: true)
            let removal = try await BranchRemoval(
                repository: watched, branch: Self.branch, commit: place.pushed, target: "main"
            ).run()
            guard case .failed = removal else {
                Issue.record("\(removal)")
                return
            }
            #expect(try await place.repository.git("rev-parse", Self.branch) == mine)
        }
    }

    @Test func `the target is never removed, and a refusal of the repository is told`() async throws {
        try await withPlace { place in
            let tip = try await place.repository.git("rev-parse", "main")
            #expect(try await place.remove("main", at: tip) == .leftAlone)
            try await place.repository.git("config", "receive.denyDeletes", "true")
            guard case .failed(let why) = try await place.remove() else {
                Issue.record("it was not refused")
                return
            }
            #expect(why.hasPrefix("git push: "))
            #expect(try await place.branches() == ["main", "pipectl/task-1"])
        }
    }
}
