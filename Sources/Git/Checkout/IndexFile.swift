internal import CGit
internal import Crypto
internal import Foundation

/// Git's index as a file: reads one entry after the other, and writes another one with few of them exchanged.
///
/// The format is that of gitformat-index(5), versions 2 and 3. libgit2 takes a second for a hundred thousand entries
/// that it makes objects of; here they are copied as they are. Extensions are left out: they hold nothing that is not
/// computed anew, and what an exchanged entry changes in them is not.
struct IndexFile {
    private static let signature: UInt32 = 0x4449_5243  // "DIRC"
    private static let headerBytes = 12
    /// From an entry's start to its flags, and to its path, which version 3 may put two bytes further.
    private static let (flagsOffset, pathOffset) = (60, 62)
    private static let checksumBytes = 20

    /// One file as an index names it.
    struct Entry: Sendable {
        let path: [UInt8]
        /// As it stands in the file, with its padding.
        fileprivate let bytes: [UInt8]

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

    /// An index that holds `entries`, which are sorted.
    static func make(_ entries: [Entry]) -> [UInt8] {
        var output = header(version: 2)
        for entry in entries { output += entry.bytes }
        finish(&output, count: entries.count)
        return output
    }

    /// A copy of the index `file` without `removed` and with `entries`, which are sorted and replace what is there.
    ///
    /// - Throws: `.invalid` when the file is no index of these versions.
    static func patched(
        _ file: UnsafeRawBufferPointer, removing removed: [TreeDifference.Removal], adding entries: [Entry]
    ) throws(GitError) -> [UInt8] {
        func number(_ offset: Int) -> UInt32 {
            UInt32(bigEndian: file.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
        }
        guard file.count >= headerBytes + checksumBytes, number(0) == signature, [2, 3].contains(number(4)) else {
            throw problem("it begins with no header of version 2 or 3")
        }
        // What lies in a folder is what begins with the folder's path and a slash; that is what is next to each other.
        var gone = removed.map { (key: $0.isFolder ? $0.path + [0x2F] : $0.path, isFolder: $0.isFolder) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }[...]
        var new = entries[...]
        var output = header(version: number(4))
        output.reserveCapacity(file.count + entries.reduce(0) { $0 + $1.bytes.count })
        var count = entries.count
        var (offset, copied) = (headerBytes, headerBytes)
        let end = file.count - checksumBytes
        for _ in 0..<number(8) {
            guard offset + pathOffset < end else { throw problem("it ends within an entry") }
            let flags = UInt16(bigEndian: file.loadUnaligned(fromByteOffset: offset + flagsOffset, as: UInt16.self))
            let start = offset + pathOffset + (flags & 0x4000 == 0 ? 0 : 2)
            var stop = start + Int(flags & 0xFFF)
            if flags & 0xFFF == 0xFFF {
                stop = file[min(start, end)..<end].firstIndex(of: 0) ?? end
            }
            let next = offset + (stop - offset + 8) / 8 * 8
            guard start <= stop, next <= end else { throw problem("it ends within an entry") }
            let path = UnsafeRawBufferPointer(rebasing: file[start..<stop])
            var isGone = false
            while let first = gone.first {
                let order = compare(first.key, path)
                if order == 0 || order < 0 && first.isFolder && path.starts(with: first.key) {
                    isGone = true
                    break
                }
                // The one after it may be an entry of this path: both "a" and "a/" can be asked for.
                guard order < 0 else { break }
                gone.removeFirst()
            }
            while let first = new.first, case let order = compare(first.path, path), order <= 0 {
                if copied < offset { output.append(contentsOf: file[copied..<offset]) }
                copied = offset
                output += first.bytes
                new.removeFirst()
                if order == 0 { isGone = true }
            }
            if isGone {
                if copied < offset { output.append(contentsOf: file[copied..<offset]) }
                copied = next
            } else {
                count += 1
            }
            offset = next
        }
        if copied < offset { output.append(contentsOf: file[copied..<offset]) }
        for entry in new { output += entry.bytes }
        finish(&output, count: count)
        return output
    }

    private static func header(version: UInt32) -> [UInt8] {
        [signature, version, 0].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    }

    private static func finish(_ output: inout [UInt8], count: Int) {
        withUnsafeBytes(of: UInt32(count).bigEndian) { count in output.replaceSubrange(8..<12, with: count) }
        var digest = Insecure.SHA1()
        output.withUnsafeBytes { digest.update(bufferPointer: $0) }
        output += digest.finalize()
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
        GitError(call: "index", code: .invalid, message: "the index that is kept of a base can't be used: \(reason).")
    }
}
