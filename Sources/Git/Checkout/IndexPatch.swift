internal import Foundation

/// An index that consists of parts of another one and new entries between them.
struct IndexPatch {
    /// The next part of the new index.
    enum Piece {
        /// A range of the old index's bytes.
        case kept(Range<Int>)
        case added([UInt8])
    }

    /// The version of the file's format.
    private(set) var version: UInt32
    /// The number of entries in the new index.
    private(set) var count = 0
    /// The parts between the header and the checksum.
    private(set) var pieces: [Piece] = []

    /// - Parameters:
    ///   - file: The old index.
    ///   - entries: Sorted. They replace existing ones.
    /// - Throws: `.invalid` if the file is not an index of version 2 or 3.
    init(
        of file: UnsafeRawBufferPointer, removing removed: [TreeDifference.Removal], adding entries: [IndexFile.Entry]
    ) throws(GitError) {
        func number(_ offset: Int) -> UInt32 {
            UInt32(bigEndian: file.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        guard file.count >= IndexFile.headerBytes + IndexFile.checksumBytes, number(0) == IndexFile.signature,
            [2, 3].contains(number(4))
        else {
            throw IndexPatch.problem("it begins with no header of version 2 or 3")
        }
        version = number(4)
        count = entries.count
        // The entries in a folder begin with the folder's path and a slash. They are next to each other.
        var gone = removed.map { (key: $0.isFolder ? $0.path + [0x2F] : $0.path, isFolder: $0.isFolder) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }[...]
        var new = entries[...]
        var (offset, copied) = (IndexFile.headerBytes, IndexFile.headerBytes)
        let end = file.count - IndexFile.checksumBytes
        for _ in 0..<number(8) {
            guard offset + IndexFile.pathOffset < end else { throw IndexPatch.problem("it ends within an entry") }
            let flags = UInt16(
                bigEndian: file.loadUnaligned(fromByteOffset: offset + IndexFile.flagsOffset, as: UInt16.self))
            let start = offset + IndexFile.pathOffset + (flags & 0x4000 == 0 ? 0 : 2)
            var stop = start + Int(flags & 0xFFF)
            if flags & 0xFFF == 0xFFF {
                stop = file[min(start, end)..<end].firstIndex(of: 0) ?? end
            }
            let next = offset + (stop - offset + 8) / 8 * 8
            guard start < stop, next <= end else { throw IndexPatch.problem("it ends within an entry") }
            let path = UnsafeRawBufferPointer(rebasing: file[start..<stop])
            var isGone = false
            while let first = gone.first {
                let order = IndexPatch.compare(first.key, path)
                if order == 0 || order < 0 && first.isFolder && path.starts(with: first.key) {
                    isGone = true
                    break
                }
                // The following element may be for this path, because both "a" and "a/" can be asked for.
                guard order < 0 else { break }
                gone.removeFirst()
            }
            while let first = new.first, case let order = IndexPatch.compare(first.path, path), order <= 0 {
                keep(copied..<offset)
                copied = offset
                pieces.append(.added(first.bytes))
                new.removeFirst()
                if order == 0 { isGone = true }
            }
            if isGone {
                keep(copied..<offset)
                copied = next
            } else {
                count += 1
            }
            offset = next
        }
        keep(copied..<offset)
        for entry in new { pieces.append(.added(entry.bytes)) }
    }

    private mutating func keep(_ range: Range<Int>) {
        if !range.isEmpty { pieces.append(.kept(range)) }
    }

    /// Paths are sorted by their bytes.
    private static func compare(_ one: [UInt8], _ other: UnsafeRawBufferPointer) -> Int {
        let common = one.withUnsafeBytes { one -> Int32 in
            guard let start = one.baseAddress, let second = other.baseAddress else { return 0 }
            return memcmp(start, second, min(one.count, other.count))
        }
        return common == 0 ? one.count - other.count : Int(common)
    }

    private static func problem(_ reason: String) -> GitError {
        GitError(call: "index", code: .invalid, message: "the index of a warm workspace can't be used: \(reason).")
    }
}
