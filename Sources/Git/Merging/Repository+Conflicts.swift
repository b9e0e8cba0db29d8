internal import CGit

extension Repository {
    /// Where each conflicting file first conflicts: the line in the merged text at which the two versions differ.
    ///
    /// - Returns: Lines by path, for at most `limit` files. Files without lines to compare (deleted, binary, renamed)
    ///   are left out.
    public func conflictLines(
        merging head: OID, into target: OID, limit: Int = 50
    ) throws(GitError) -> [String: Int] {
        let index = try mergedIndex(head, into: target)
        let iterator = try Handle("git_index_conflict_iterator_new", free: git_index_conflict_iterator_free) {
            git_index_conflict_iterator_new(&$0, index.pointer)
        }
        var lines: [String: Int] = [:]
        while lines.count < limit {
            var (base, ours, theirs):
                (
                    UnsafePointer<git_index_entry>?, UnsafePointer<git_index_entry>?, UnsafePointer<git_index_entry>?
                ) = (nil, nil, nil)
            let code = git_index_conflict_next(&base, &ours, &theirs, iterator.pointer)
            if code == GIT_ITEROVER.rawValue { break }
            try git("git_index_conflict_next") { code }
            guard let ours, let theirs, let path = ours.pointee.path else { continue }
            // A very large file is not merged again for a line number.
            let sides = [base, ours, theirs].compactMap { $0.map { OID($0.pointee.id) } }
            guard sides.allSatisfy({ ((try? size(of: $0)) ?? .max) <= ObjectBounds.mergedFile }) else {
                continue
            }
            var result = git_merge_file_result()
            // A file that can't be merged by lines has no line.
            guard git_merge_file_from_index(&result, pointer, base, ours, theirs, nil) == 0 else {
                git_error_clear()
                continue
            }
            defer { git_merge_file_result_free(&result) }
            let text = UnsafeRawBufferPointer(start: result.ptr, count: result.len)
            if let line = Self.firstMark(in: text) { lines[String(cString: path)] = line }
        }
        return lines
    }

    /// The line of the first `<<<<<<< `.
    private static func firstMark(in text: UnsafeRawBufferPointer) -> Int? {
        var number = 1
        var start = text.startIndex
        let mark = Array("<<<<<<< ".utf8)
        while start < text.endIndex {
            if text[start...].starts(with: mark) { return number }
            guard let end = text[start...].firstIndex(of: 0x0A) else { return nil }
            (start, number) = (end + 1, number + 1)
        }
        return nil
    }
}
