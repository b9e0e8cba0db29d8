import Git
import Pipeline

/// Finds files that differ between two trees and that no pattern covers.
///
/// A key covers the files that patterns match. Any other file of a change may have decided a step's result, and is in
/// no key.
struct UndeclaredChanges {
    /// The repository with both trees.
    let repository: Repository
    /// Patterns as in `.inputs(…)`.
    let patterns: [String]

    /// The path of one such file; nil if there is none.
    ///
    /// A file that `tree` no longer contains is returned unless a pattern matches its path or covers its folder. If
    /// names in a folder can't be told apart as text, the folder is returned.
    ///
    /// - Throws: ``TreeTooLarge``, ``TreeTooDeep``, ``TooManyLinks``, or an error of the repository.
    func first(in tree: OID, against other: OID) throws -> String? {
        guard tree != other else { return nil }
        let named = try TreeInputs(repository: repository, tree: tree).paths(patterns)
        var walk = Walk(repository: repository, named: named, globs: patterns.compactMap { try? Glob($0) })
        let roots = [other, tree].map { TreeEntry(name: "", path: "", kind: .tree, id: $0) }
        return try walk.compare(roots[0], roots[1], 0)
    }

    /// One comparison, which enters only folders that differ.
    private struct Walk {
        let repository: Repository
        /// Paths of the new tree as bytes; a folder stands for its whole content.
        let named: Set<[UInt8]>
        let globs: [Glob]
        var folders = 0

        /// Compares the entries of the two trees at one path; either may be missing.
        mutating func compare(_ old: TreeEntry?, _ new: TreeEntry?, _ depth: Int) throws -> String? {
            guard let path = (new ?? old)?.path, old?.id != new?.id || old?.kind != new?.kind else { return nil }
            if let new {
                if named.contains(Array(path.utf8)) { return nil }
                // A file that was replaced by a folder counts as removed.
                if new.kind != .tree || (old.map { $0.kind != .tree } ?? false) { return path }
            } else if let old {
                if isNamed(gone: path, old.kind) { return nil }
                if old.kind != .tree { return path }
            }
            guard depth < TreeInputs.deepest else { throw TreeTooDeep(path: path) }
            guard let before = try children(of: old), let after = try children(of: new) else {
                return path.isEmpty ? "." : path
            }
            for name in Set(before.keys).union(after.keys).sorted(by: { $0.lexicographicallyPrecedes($1) }) {
                if let found = try compare(before[name], after[name], depth + 1) { return found }
            }
            return nil
        }

        private func isNamed(gone path: String, _ kind: TreeEntry.Kind) -> Bool {
            globs.contains { $0.matches(path) || (kind == .tree && $0.covers(path)) }
        }

        /// By names as bytes; nil if two may have the same name.
        private mutating func children(of entry: TreeEntry?) throws -> [[UInt8]: TreeEntry]? {
            guard let entry, entry.kind == .tree else { return [:] }
            folders += 1
            guard folders <= TreeInputs.mostFolders else { throw TreeTooLarge(path: entry.path) }
            var byName: [[UInt8]: TreeEntry] = [:]
            for var child in try repository.entries(ofTree: entry.id, recursive: false) {
                if child.name.unicodeScalars.contains("\u{FFFD}") { return nil }
                child.path = entry.path.isEmpty ? child.name : "\(entry.path)/\(child.name)"
                guard byName.updateValue(child, forKey: Array(child.name.utf8)) == nil else { return nil }
            }
            return byName
        }
    }
}
