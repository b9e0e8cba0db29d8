import BuildBox
import Foundation
import Git

/// Where changes that landed are looked for.
///
/// A clone has the commits and seldom the refs of changes; the repository that is watched has both.
enum LandedPlace {
    /// The folder itself where it knows of changes, else the watched repository where that does.
    static func folder(_ folder: String, watchedAt watched: String?, _ rules: ChangeRefs) async -> String {
        guard let watched, await !hasChanges(folder, rules), await hasChanges(watched, rules) else { return folder }
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
    static func commits(_ range: RevisionRange, in folder: String) async -> RevisionRange {
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
