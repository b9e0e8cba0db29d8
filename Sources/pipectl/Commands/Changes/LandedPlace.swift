import Control
import Foundation
import Git
import Watching

/// The repository in which landed changes are searched for.
///
/// A clone has the commits but seldom the refs of changes; the watched repository has both.
struct LandedPlace {
    let folder: String
    /// What a running daemon knows about the repository in `folder`, or about the one that it is a clone of.
    let watched: RepositoryFacts?
    let rules: ChangeRefs

    /// The repository to read, and the range as commits.
    ///
    /// - Parameter text: OLD..NEW or a revision, with the names of `folder`. Nil for the target branch, but never for
    ///   the branch that is checked out, since that may itself be a change.
    func find(_ text: String?) async throws -> (folder: String, range: RevisionRange) {
        if let text {
            return (await place(), await Self.commits(try RevisionRange(text), in: folder))
        }
        if let watched, let target = watched.target, await Self.hasChanges(watched.gitDirectory, rules) {
            return (watched.gitDirectory, try RevisionRange("refs/heads/\(target)"))
        }
        let place = await place()
        let origin = try? await withRepository(at: place) { try $0.resolve("refs/remotes/origin/HEAD^{commit}").hex }
        return (place, try RevisionRange(origin ?? "HEAD"))
    }

    /// The folder itself if it has refs of changes, otherwise the watched repository if that has some.
    private func place() async -> String {
        guard let watched = watched?.gitDirectory, await !Self.hasChanges(folder, rules),
            await Self.hasChanges(watched, rules)
        else { return folder }
        return watched
    }

    private static func hasChanges(_ folder: String, _ rules: ChangeRefs) async -> Bool {
        let found = try? await withRepository(at: folder) { repository in
            try repository.snapshot().refs.keys.contains {
                if case .change = rules.kind(of: $0) { true } else { false }
            }
        }
        return found ?? false
    }

    /// A range with the commits that its names mean here: in another repository the same names may mean other commits.
    private static func commits(_ range: RevisionRange, in folder: String) async -> RevisionRange {
        func commit(_ name: String) async -> String {
            let found = try? await withRepository(at: folder) { try $0.resolve("\(name)^{commit}").hex }
            return found ?? name
        }
        var range = range
        range.new = await commit(range.new)
        if let old = range.old { range.old = await commit(old) }
        return range
    }
}
