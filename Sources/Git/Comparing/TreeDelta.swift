internal import CGit

/// The paths in which two trees differ, without the contents of the files.
package struct TreeDelta: Equatable {
    /// A file's entry in a tree; all zero if there is none.
    package struct Side: Hashable {
        package var id: OID
        package var mode: UInt16
        static let absent = Side(id: OID(git_oid()), mode: 0)
    }

    package struct File: Hashable {
        package var old: Side
        package var new: Side
        /// Whether both are regular files.
        package var isEdit: Bool { old.mode & 0o170000 == 0o100000 && new.mode & 0o170000 == 0o100000 }
    }

    package var files: [String: File] = [:]

    /// Equal for equal sets of paths: a quick test before lines are compared.
    package var paths: Set<String>.Hashed { Set(files.keys).hashed }
}

extension Set where Element: Hashable {
    /// The hash of a set, which differs in each process.
    package struct Hashed: Hashable { var value: Int }
    var hashed: Hashed {
        // Addition, because a set has no order.
        Hashed(value: reduce(count) { $0 &+ $1.hashValue })
    }
}

extension Repository {
    /// The difference of two trees without renames and lines; nil stands for the empty tree.
    package func treeDelta(from old: OID?, to new: OID) throws(GitError) -> TreeDelta {
        let diff = try diffHandle(from: old, to: new, contextLines: 0, renames: false)
        var delta = TreeDelta()
        for number in 0..<git_diff_num_deltas(diff.pointer) {
            guard let raw = git_diff_get_delta(diff.pointer, number)?.pointee, let path = raw.new_file.path else {
                continue
            }
            delta.files[String(cString: path)] = TreeDelta.File(
                old: TreeDelta.Side(id: OID(raw.old_file.id), mode: raw.old_file.mode),
                new: TreeDelta.Side(id: OID(raw.new_file.id), mode: raw.new_file.mode))
        }
        return delta
    }

    /// The lines that a new version of a file removes and adds, in any order, as one number that is valid in this
    /// process; nil for a large or binary file.
    ///
    /// In contrast to ``patchID(of:)`` it ignores surrounding lines, which others may have changed, and includes white
    /// space.
    package func lineChange(from old: OID, to new: OID) throws(GitError) -> Int? {
        var options = git_diff_options()
        try git("git_diff_options_init") { git_diff_options_init(&options, UInt32(GIT_DIFF_OPTIONS_VERSION)) }
        options.context_lines = 0
        for id in [old, new] { guard try size(of: id) <= 4 << 20 else { return nil } }
        var (oldRaw, newRaw) = (old.raw, new.raw)
        let before = try Handle("git_blob_lookup", free: git_blob_free) { git_blob_lookup(&$0, pointer, &oldRaw) }
        let after = try Handle("git_blob_lookup", free: git_blob_free) { git_blob_lookup(&$0, pointer, &newRaw) }
        let patch = try Handle("git_patch_from_blobs", free: git_patch_free) {
            git_patch_from_blobs(&$0, before.pointer, nil, after.pointer, nil, &options)
        }
        let delta = git_patch_get_delta(patch.pointer)?.pointee
        if let delta, delta.flags & GIT_DIFF_FLAG_BINARY.rawValue != 0 { return nil }
        var hasher = Hasher()
        for hunk in 0..<git_patch_num_hunks(patch.pointer) {
            for line in 0..<Int(max(0, git_patch_num_lines_in_hunk(patch.pointer, hunk))) {
                var raw: UnsafePointer<git_diff_line>?
                try git("git_patch_get_line_in_hunk") {
                    git_patch_get_line_in_hunk(&raw, patch.pointer, hunk, line)
                }
                guard let text = raw?.pointee, let start = text.content else { continue }
                hasher.combine(text.origin)
                hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: text.content_len))
            }
        }
        return hasher.finalize()
    }
}
