internal import CGit
internal import Foundation

/// Excludes most commits that are not a merge of a change, without merging.
///
/// A merge without conflicts has no line that neither side has, and it has every line that one side added. This holds
/// for every way of comparing lines, so Git need not be asked about a commit that violates it.
extension Repository {
    /// The versions of a file in a merge.
    package struct Versions {
        var base: TreeDelta.Side
        var target: TreeDelta.Side
        var change: TreeDelta.Side
        var merged: TreeDelta.Side

        package init(base: TreeDelta.Side, target: TreeDelta.Side, change: TreeDelta.Side, merged: TreeDelta.Side) {
            (self.base, self.target, self.change, self.merged) = (base, target, change, merged)
        }
    }

    /// Whether the merged version may be the result of merging the others. True if that can't be decided.
    package func mayBeMerge(_ versions: Versions) throws(GitError) -> Bool {
        let sides = [versions.base, versions.target, versions.change, versions.merged]
        // Links, submodules, and files that one side does not have are merged in other ways.
        guard sides.allSatisfy({ $0.mode & 0o170000 == 0o100000 }) else { return true }
        guard let base = try lines(of: versions.base.id), let target = try lines(of: versions.target.id),
            let change = try lines(of: versions.change.id), let merged = try lines(of: versions.merged.id)
        else { return true }
        return merged.allSatisfy { target.contains($0) || change.contains($0) }
            && change.allSatisfy { base.contains($0) || merged.contains($0) }
            && target.allSatisfy { base.contains($0) || merged.contains($0) }
    }

    /// A number for each line of a file, which is the same for equal lines in this process; nil for a large, binary or
    /// missing file.
    private func lines(of id: OID) throws(GitError) -> Set<Int>? {
        var raw = id.raw
        var pointer: OpaquePointer?
        guard try gitFinds("git_blob_lookup", { git_blob_lookup(&pointer, self.pointer, &raw) }), let blob = pointer
        else { return nil }
        defer { git_blob_free(blob) }
        let count = Int(git_blob_rawsize(blob))
        guard count <= 1 << 20, git_blob_is_binary(blob) == 0 else { return nil }
        let bytes = UnsafeRawBufferPointer(start: git_blob_rawcontent(blob), count: count)
        var lines: Set<Int> = []
        var start = 0
        while start < count, let first = bytes.baseAddress {
            let end = memchr(first + start, 0x0A, count - start).map { UnsafeRawPointer($0) - first } ?? count
            var hasher = Hasher()
            hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
            lines.insert(hasher.finalize())
            start = end + 1
        }
        return lines
    }
}
