internal import CGit
internal import Foundation

/// Git's index as a file, in the format of gitformat-index(5), versions 2 and 3.
///
/// libgit2 takes a second for a hundred thousand entries that it makes objects of; here they are copied as they are.
/// Extensions are left out: they hold nothing that is not computed anew, and what an exchanged entry changes in them is
/// not.
enum IndexFile {
    static let signature: UInt32 = 0x4449_5243  // "DIRC"
    static let headerBytes = 12
    /// From an entry's start to its flags, and to its path, which version 3 may put two bytes further.
    static let (flagsOffset, pathOffset) = (60, 62)
    static let checksumBytes = 20

    /// One file as an index names it.
    struct Entry: Sendable {
        let path: [UInt8]
        /// As it stands in the file, with its padding.
        let bytes: [UInt8]

        /// - Parameter raw: Its path and `stat` data are copied.
        init(_ raw: git_index_entry) {
            let path: [UInt8] =
                raw.path.map { start in
                    UnsafeBufferPointer(start: start, count: strlen(start)).map { UInt8(bitPattern: $0) }
                } ?? []
            var bytes: [UInt8] = []
            bytes.reserveCapacity(IndexFile.pathOffset + path.count + 8)
            func add(_ number: UInt32) { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
            for time in [raw.ctime, raw.mtime] {
                add(UInt32(truncatingIfNeeded: time.seconds))
                add(time.nanoseconds)
            }
            for number in [raw.dev, raw.ino, raw.mode, raw.uid, raw.gid, raw.file_size] { add(number) }
            withUnsafeBytes(of: raw.id.id) { bytes.append(contentsOf: $0) }
            let flags = UInt16(min(path.count, 0xFFF))
            withUnsafeBytes(of: flags.bigEndian) { bytes.append(contentsOf: $0) }
            bytes += path
            // One to eight: the path is ended by a zero, and the next entry begins at a multiple of eight.
            bytes += [UInt8](repeating: 0, count: 8 - bytes.count % 8)
            self.path = path
            self.bytes = bytes
        }
    }

    /// Writes an index that holds `entries`, which are sorted, to the new file `path`.
    static func write(_ entries: [Entry], to path: String) throws(GitError) {
        var bytes = header(version: 2, count: entries.count)
        bytes.reserveCapacity(headerBytes + entries.reduce(0) { $0 + $1.bytes.count })
        for entry in entries { bytes += entry.bytes }
        try write([.added(bytes)], of: UnsafeRawBufferPointer(start: nil, count: 0), to: path)
    }

    /// Writes a copy of the index `base` without `removed` and with `entries`, which are sorted and replace what is
    /// there, to the new file `path`.
    ///
    /// - Throws: `.invalid` when the base is no index of these versions, `.notFound` when it can't be read, `.failed`
    ///   when the disk takes no more.
    static func write(
        patching base: String, removing removed: [TreeDifference.Removal], adding entries: [Entry], to path: String
    ) throws(GitError) {
        let file = try MappedFile(base)
        let patch = try IndexPatch(of: file.bytes, removing: removed, adding: entries)
        try write(
            [.added(header(version: patch.version, count: patch.count))] + patch.pieces, of: file.bytes, to: path)
    }

    private static func header(version: UInt32, count: Int) -> [UInt8] {
        [signature, version, UInt32(count)].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    }
}
