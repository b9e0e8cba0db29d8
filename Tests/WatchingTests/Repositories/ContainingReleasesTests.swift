import Foundation
import Results
import Store
import TestBasics
import TestSupport
import Testing

@testable import Watching

/// The releases that have a commit, found in a real history.
@Suite(.timeLimit(.minutes(1))) struct ContainingReleasesTests {
    @Test func `releases of later commits have a commit, others don't`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/app"
            try await runCommand("git", "init", "-q", "-b", "main", path)
            var commits: [String] = []
            for name in ["before", "wanted", "after"] { commits.append(try await Self.commit(name, in: path)) }
            try await runCommand("git", "checkout", "-q", "-b", "1.x", commits[0], in: path)
            let beside = try await Self.commit("beside", in: path)
            let index = try Store.Index.inMemory()
            let repositories = KnownRepositories(
                registry: RepositoryRegistry(index: index, mirrors: "\(folder)/mirrors"), index: index,
                watchers: Watchers(), mirrors: "\(folder)/mirrors", trust: .standard)
            let name = try await repositories.open(path).name
            let missing = String(repeating: "a", count: 40)
            for (version, commit) in [
                ("1.0", commits[0]), ("1.1", beside), ("2.0", commits[1]), ("2.1", commits[2]), ("9", missing),
            ] {
                _ = try await index.addRelease(Self.release(version, commit, of: name))
            }
            let containing = ContainingReleases(repositories)
            for _ in 0..<2 {
                let found = try await containing.releases(with: commits[1], of: name)
                #expect(found.map(\.version) == ["2.0", "2.1"])
            }
            #expect(try await containing.releases(with: beside, of: name).map(\.version) == ["1.1"])
            // A release that comes later is found, too.
            let next = try await Self.commit("next", in: path)
            _ = try await index.addRelease(Self.release("1.2", next, of: name))
            #expect(try await containing.releases(with: beside, of: name).map(\.version) == ["1.1", "1.2"])
            #expect(try await containing.releases(with: missing, of: name).isEmpty)
            #expect(try await containing.releases(with: "HEAD", of: name).isEmpty)
        }
    }

    private static func commit(_ message: String, in path: String) async throws -> String {
        try await runCommand(
            "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "--allow-empty", "-m",
            message,
            in: path)
        return try await runCommand("git", "rev-parse", "HEAD", in: path).trimmingCharacters(
            in: .whitespacesAndNewlines)
    }

    private static func release(_ version: String, _ commit: String, of repository: String) -> ReleaseRecord {
        ReleaseRecord(
            repository: repository, version: ReleaseVersion(version: version, buildNumber: 1, tag: "v\(version)"),
            commit: commit, tree: "", committedAt: Sample.start, workflow: "release", run: 1, madeAt: Sample.start,
            notes: "", files: [])
    }
}
