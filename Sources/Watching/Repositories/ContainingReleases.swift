import Git
package import Results
import Store
import Synchronization

/// Finds the releases whose commits contain a commit. What it has found of two commits, it keeps, since that never changes.
package final class ContainingReleases: Sendable {
    /// The newest releases of a repository that are looked at.
    private static let most = 50
    /// Pairs of commits that are kept.
    private static let mostKnown = 10_000

    private struct Pair: Hashable {
        var commit: OID
        var release: OID
    }

    private let repositories: KnownRepositories
    private let known = Mutex<[Pair: Bool]>([:])

    package init(_ repositories: KnownRepositories) { self.repositories = repositories }

    /// The releases of a repository that contain a commit, oldest first.
    ///
    /// - Parameter commit: A full id.
    package func releases(with commit: String, of repository: String) async throws -> [ReleaseRecord] {
        guard let wanted = OID(hex: commit) else { return [] }
        let releases = try await repositories.index.versions(of: repository, limit: Self.most)
        let commits = Set(releases.compactMap { OID(hex: $0.commit) })
        var answers = known.withLock { known in
            commits.reduce(into: [:]) { $0[$1] = known[Pair(commit: wanted, release: $1)] }
        }
        let open = commits.subtracting(answers.keys)
        if !open.isEmpty {
            let place = try await repositories.repository(named: repository).gitDirectory
            let found = try await withRepository(at: place) { git in
                guard git.contains(wanted) else { return [OID: Bool]() }
                return try open.filter { git.contains($0) }.reduce(into: [:]) {
                    $0[$1] = try git.isAncestor(wanted, of: $1)
                }
            }
            answers.merge(found) { $1 }
            known.withLock { known in
                if known.count + found.count > Self.mostKnown { known = [:] }
                for (release, answer) in found { known[Pair(commit: wanted, release: release)] = answer }
            }
        }
        return releases.reversed().filter { release in OID(hex: release.commit).map { answers[$0] == true } ?? false }
    }
}
