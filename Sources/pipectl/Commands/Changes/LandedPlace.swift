import BuildBox
import Control
import Foundation
import Git

/// Where changes that landed are looked for.
///
/// A clone has the commits and seldom the refs of changes; the repository that is watched has both.
struct LandedPlace {
    let folder: String
    /// What a running daemon knows of the repository that `folder` is, or is a clone of.
    let watched: RepositoryFacts?
    let rules: ChangeRefs

    /// The repository to read, and the range as commits.
    ///
    /// - Parameter text: OLD..NEW or a revision, as `folder` names them; nil for the target branch, never for the
    ///   branch that happens to be checked out: that one may itself be a change.
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

    /// The folder itself where it knows of changes, else the watched repository where that does.
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

    /// A range with the commits that its names mean here: another repository may have other branches under them.
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
