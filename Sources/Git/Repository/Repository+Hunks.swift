internal import CGit

/// A part of a file's difference: consecutive lines, with context.
public struct DiffHunk: Sendable, Equatable {
    /// The path on the new side; for a deleted file, the old path.
    public var path: String
    /// The path on the old side.
    public var oldPath: String
    /// The first line on each side, from 1; 0 if that side has no line.
    public var oldStart: Int
    public var newStart: Int
    /// The number of lines on each side.
    public var oldLines: Int
    public var newLines: Int
    /// Lines that begin with a space, `+` or `-`. Bytes that are not UTF-8 appear as U+FFFD.
    public var text: String
}

extension Repository {
    /// The parts in which two commits differ, with three lines of context and renames detected, ordered by path.
    ///
    /// - Parameters:
    ///   - maximumBytes: The limit for all texts together. Files after that have none.
    ///   - maximumHunks: The most parts that are returned.
    public func hunks(
        from old: OID?, to new: OID, maximumBytes: Int, maximumHunks: Int
    ) throws(GitError) -> [DiffHunk] {
        let diff = try diffHandle(from: old, to: new, contextLines: 3, maximumFileBytes: 1 << 20)
        var hunks: [DiffHunk] = []
        var bytes = 0
        for number in 0..<git_diff_num_deltas(diff.pointer) {
            guard bytes < maximumBytes, hunks.count < maximumHunks else { break }
            var patch: OpaquePointer?
            let pointer = diff.pointer
            try git("git_patch_from_diff") { git_patch_from_diff(&patch, pointer, number) }
            guard let patch else { continue }
            defer { git_patch_free(patch) }
            guard let delta = git_patch_get_delta(patch) else { continue }
            let oldPath = delta.pointee.old_file.path.map { String(cString: $0) } ?? ""
            let newPath = delta.pointee.new_file.path.map { String(cString: $0) } ?? oldPath
            for place in 0..<git_patch_num_hunks(patch) {
                guard bytes < maximumBytes, hunks.count < maximumHunks else { break }
                var raw: UnsafePointer<git_diff_hunk>?
                var count = 0
                try git("git_patch_get_hunk") { git_patch_get_hunk(&raw, &count, patch, place) }
                guard let raw else { continue }
                let text = try Self.text(of: patch, hunk: place, lines: count, limit: maximumBytes - bytes)
                bytes += text.utf8.count
                hunks.append(
                    DiffHunk(
                        path: newPath, oldPath: oldPath, oldStart: Int(raw.pointee.old_start),
                        newStart: Int(raw.pointee.new_start), oldLines: Int(raw.pointee.old_lines),
                        newLines: Int(raw.pointee.new_lines), text: text))
            }
        }
        return hunks
    }

    /// Whole lines of a hunk, at most `limit` bytes.
    private static func text(
        of patch: OpaquePointer, hunk: Int, lines: Int, limit: Int
    ) throws(GitError) -> String {
        var text: [UInt8] = []
        for number in 0..<lines {
            var raw: UnsafePointer<git_diff_line>?
            try git("git_patch_get_line_in_hunk") { git_patch_get_line_in_hunk(&raw, patch, hunk, number) }
            guard let line = raw?.pointee else { continue }
            let origin = UInt8(bitPattern: line.origin)
            // The other lines say that a file has no line feed at its end.
            guard [UInt8(ascii: " "), UInt8(ascii: "+"), UInt8(ascii: "-")].contains(origin) else { continue }
            guard text.count + line.content_len < limit else { break }
            text.append(origin)
            text += UnsafeRawBufferPointer(start: line.content, count: line.content_len)
            if text.last != 0x0A { text.append(0x0A) }
        }
        if text.last == 0x0A { text.removeLast() }
        return String(decoding: text, as: UTF8.self)
    }
}
