internal import CGit
internal import Foundation

/// Git's index as a file, in the format of gitformat-index(5), versions 2 and 3.
///
/// libgit2 makes an object of each entry, which takes a second for a hundred thousand. Here entries are copied
/// unchanged. Extensions are left out: Git can compute all of them again, and changed entries would make them wrong.
enum IndexFile {
    static let signature: UInt32 = 0x4449_5243  // "DIRC"
    static let headerBytes = 12
    /// The offsets of the flags and of the path in an entry. In version 3, the path may begin two bytes later.
    static let (flagsOffset, pathOffset) = (60, 62)
    static let checksumBytes = 20

    /// One file's entry in an index.
    struct Entry: Sendable {
        let path: [UInt8]
        /// The entry as it is in the file, with its padding.
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
            // One to eight zeros: one ends the path, and the next entry begins at a multiple of eight.
            bytes += [UInt8](repeating: 0, count: 8 - bytes.count % 8)
            self.path = path
            self.bytes = bytes
        }
    }

    /// Writes an index with `entries`, which must be sorted, to the new file `path`.
    static func write(_ entries: [Entry], to path: String) throws(GitError) {
        var bytes = header(version: 2, count: entries.count)
        bytes.reserveCapacity(headerBytes + entries.reduce(0) { $0 + $1.bytes.count })
        for entry in entries { bytes += entry.bytes }
        try write([.added(bytes)], of: UnsafeRawBufferPointer(start: nil, count: 0), to: path)
    }

    /// Writes a copy of the index `base` to the new file `path`, without `removed`, and with `entries`, which must be
    /// sorted and replace existing ones.
    ///
    /// - Throws: `.invalid` if the base is not an index of these versions, `.notFound` if it can't be read, `.failed`
    ///   if the disk is full.
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
