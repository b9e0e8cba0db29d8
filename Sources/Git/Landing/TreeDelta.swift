internal import CGit

/// What differs between two trees, path by path, without looking into the files.
struct TreeDelta: Equatable {
    /// A file as a tree names it; all zero where there is none.
    struct Side: Hashable {
        var id: OID
        var mode: UInt16
        static let absent = Side(id: OID(git_oid()), mode: 0)
    }

    struct File: Equatable {
        var old: Side
        var new: Side
    }

    var files: [String: File] = [:]

    /// Equal for equal sets of paths: the quick test before lines are compared.
    var paths: Set<String>.Hashed { Set(files.keys).hashed }
}

extension Set where Element: Hashable {
    /// A set's hash alone, seeded anew in each process.
    struct Hashed: Hashable { var value: Int }
    var hashed: Hashed {
        // Addition, because a set has no order.
        Hashed(value: reduce(count) { $0 &+ $1.hashValue })
    }
}

extension Repository {
    /// The difference of two trees, no renames, no lines; `nil` stands for the empty tree.
    func treeDelta(from old: OID?, to new: OID) throws(GitError) -> TreeDelta {
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

    /// The lines that a difference takes and gives, wherever they are: equal where two commits do the same.
    ///
    /// Unlike ``patchID(of:)`` it leaves the lines around out, which others may have changed, and includes white space,
    /// file modes and binary contents. The value holds within this process.
    func fingerprint(from old: OID?, to new: OID) throws(GitError) -> Fingerprint {
        let diff = try diffHandle(from: old, to: new, contextLines: 0, renames: false, maximumFileBytes: 4 << 20)
        var hasher = Hasher()
        for number in 0..<git_diff_num_deltas(diff.pointer) {
            guard let delta = git_diff_get_delta(diff.pointer, number)?.pointee, let path = delta.new_file.path else {
                continue
            }
            hasher.combine(String(cString: path))
            hasher.combine(delta.old_file.mode)
            hasher.combine(delta.new_file.mode)
            guard delta.status == GIT_DELTA_MODIFIED, try combineLines(of: diff.pointer, number, into: &hasher) else {
                hasher.combine(OID(delta.old_file.id))
                hasher.combine(OID(delta.new_file.id))
                continue
            }
        }
        return Fingerprint(value: hasher.finalize())
    }

    /// Adds one file's lines; `false` when it is binary and has none.
    private func combineLines(
        of diff: OpaquePointer, _ number: Int, into hasher: inout Hasher
    ) throws(GitError) -> Bool {
        var out: OpaquePointer?
        try git("git_patch_from_diff") { git_patch_from_diff(&out, diff, number) }
        guard let patch = out else { return true }
        defer { git_patch_free(patch) }
        if let delta = git_patch_get_delta(patch), delta.pointee.flags & GIT_DIFF_FLAG_BINARY.rawValue != 0 {
            return false
        }
        for hunk in 0..<git_patch_num_hunks(patch) {
            for line in 0..<Int(max(0, git_patch_num_lines_in_hunk(patch, hunk))) {
                var raw: UnsafePointer<git_diff_line>?
                try git("git_patch_get_line_in_hunk") { git_patch_get_line_in_hunk(&raw, patch, hunk, line) }
                guard let text = raw?.pointee, let start = text.content else { continue }
                hasher.combine(text.origin)
                hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: text.content_len))
            }
        }
        return true
    }
}

/// What a difference does, as one number; see ``Repository/fingerprint(from:to:)``.
struct Fingerprint: Hashable {
    var value: Int
}
