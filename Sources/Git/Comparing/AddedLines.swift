internal import CGit

/// What a commit adds to one file.
public struct AddedLines: Sendable, Equatable {
    /// A line that the earlier version did not have.
    public struct Line: Sendable, Equatable {
        /// In the new version, from 1.
        public var number: Int
        /// Without its line ending. Bytes that are not UTF-8 appear as U+FFFD.
        public var text: String
    }

    /// The path on the new side.
    public var path: String
    /// The path on the old side, if it differs.
    public var oldPath: String?
    public var lines: [Line]
    /// Whether nothing is known of its lines, because the file is too large to be compared.
    public var isTooLarge: Bool
}

extension Repository {
    /// The lines that a commit adds, file by file; nothing of links and submodules, and the whole of a binary file that
    /// is new or has changed.
    ///
    /// - Parameters:
    ///   - wanted: Whether a file is of interest.
    ///   - isWhole: Whether all lines of a file that was moved count as added; called with its old and its new path.
    ///   - body: Is given each file. Returns false to hear no more.
    public func addedLines(
        from old: OID, to new: OID, in wanted: (_ path: String) -> Bool,
        isWhole: (_ oldPath: String, _ path: String) -> Bool = { _, _ in false }, _ body: (AddedLines) -> Bool
    ) throws(GitError) {
        let diff = try diffHandle(from: old, to: new, contextLines: 0)
        var compared = 0
        for number in 0..<git_diff_num_deltas(diff.pointer) {
            guard let delta = git_diff_get_delta(diff.pointer, number)?.pointee, delta.status != GIT_DELTA_DELETED,
                let path = delta.new_file.path.map({ String(cString: $0) }), wanted(path),
                UInt32(delta.new_file.mode) & 0o170000 == 0o100000
            else { continue }
            let oldPath = delta.old_file.path.map { String(cString: $0) }
            var file = AddedLines(
                path: path, oldPath: oldPath == path ? nil : oldPath, lines: [], isTooLarge: false)
            let id = OID(delta.new_file.id)
            let isNew =
                delta.status == GIT_DELTA_ADDED || delta.status == GIT_DELTA_TYPECHANGE
                || file.oldPath.map { isWhole($0, path) } == true
            let bytes = try size(of: id)
            compared += bytes
            // Git can't compare with an old version that is too large, either.
            let others = isNew ? 0 : try size(of: OID(delta.old_file.id))
            if max(bytes, others) > ObjectBounds.comparedFile || compared > ObjectBounds.compared {
                file.isTooLarge = true
            } else {
                // Git compares no lines of a binary file. One NUL byte makes it one, and compilers and shells pass over it.
                let added = isNew ? nil : try addedLines(diff, number)
                if let added { file.lines = added } else { file.lines = Self.lines(of: try blob(id)) }
            }
            guard body(file) else { return }
        }
    }

    private static func lines(of bytes: [UInt8]) -> [AddedLines.Line] {
        var parts = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        return parts.enumerated().map { AddedLines.Line(number: $0.offset + 1, text: text(of: $0.element)) }
    }

    private static func text(of bytes: some BidirectionalCollection<UInt8>) -> String {
        String(decoding: bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }

    /// - Returns: Nil if Git takes one of the two versions for a binary file.
    private func addedLines(_ diff: borrowing Handle, _ number: Int) throws(GitError) -> [AddedLines.Line]? {
        let pointer = diff.pointer
        var patch: OpaquePointer?
        try git("git_patch_from_diff") { git_patch_from_diff(&patch, pointer, number) }
        guard let patch else { return nil }
        defer { git_patch_free(patch) }
        guard let delta = git_patch_get_delta(patch)?.pointee, delta.flags & GIT_DIFF_FLAG_BINARY.rawValue == 0 else {
            return nil
        }
        var lines: [AddedLines.Line] = []
        for hunk in 0..<git_patch_num_hunks(patch) {
            let count = git_patch_num_lines_in_hunk(patch, hunk)
            for place in 0..<max(0, Int(count)) {
                var raw: UnsafePointer<git_diff_line>?
                try git("git_patch_get_line_in_hunk") { git_patch_get_line_in_hunk(&raw, patch, hunk, place) }
                guard let line = raw?.pointee, UInt8(bitPattern: line.origin) == UInt8(ascii: "+") else { continue }
                var content = [UInt8](UnsafeRawBufferPointer(start: line.content, count: line.content_len))
                if content.last == UInt8(ascii: "\n") { content.removeLast() }
                lines.append(AddedLines.Line(number: Int(line.new_lineno), text: Self.text(of: content)))
            }
        }
        return lines
    }
}
