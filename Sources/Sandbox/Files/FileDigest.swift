import Crypto
package import Foundation
import Synchronization
import SystemPackage

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Tells a file from another file, or from an earlier version of itself, without reading it.
package struct FileStamp: Sendable, Hashable, Codable {
    var path: String
    var inode: UInt64
    /// In bytes.
    package var size: Int64
    /// Modification time in whole seconds since 1970.
    package var modifiedSeconds: Int64
    var modifiedNanoseconds: Int64

    /// The stamp of a regular file, following links; nil if there is none.
    package init?(path: String) {
        var info = stat()
        guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
        self.path = path
        inode = UInt64(info.st_ino)
        size = Int64(info.st_size)
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        modifiedSeconds = Int64(time.tv_sec)
        modifiedNanoseconds = Int64(time.tv_nsec)
    }
}

/// SHA-256 of files and values, as lower-case hexadecimal text.
package enum FileDigest {
    private static let known = Mutex<[FileStamp: String]>([:])

    /// Bytes as lower-case hexadecimal text.
    package static func hex(_ digest: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(64)
        for byte in digest {
            for digit in [byte >> 4, byte & 15] {
                text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The digest of bytes in memory.
    package static func of(_ bytes: some DataProtocol) -> String { hex(SHA256.hash(data: bytes)) }

    /// The digest of several texts. The length of each is included, so that the borders between them are unambiguous.
    package static func of(parts: [String]) -> String {
        var hash = SHA256()
        for part in parts {
            hash.update(data: Data("\(part.utf8.count):".utf8))
            hash.update(data: Data(part.utf8))
        }
        return hex(hash.finalize())
    }

    /// The digest of a file's content. It is read once per process as long as its stamp stays the same.
    ///
    /// - Throws: `CocoaError` if there is no such file, `Errno` if it can't be read.
    package static func of(file path: String) throws -> String {
        guard let stamp = FileStamp(path: path) else {
            throw CocoaError(.fileReadNoSuchFile)
        }
        if let digest = known.withLock({ $0[stamp] }) { return digest }
        let digest = try contentDigest(of: path)
        // A file that was written while it was read has another stamp now and will be read again.
        if FileStamp(path: path) == stamp {
            known.withLock { table in
                if table.count > 1_000 { table.removeAll() }
                table[stamp] = digest
            }
        }
        return digest
    }

    /// The file is read in pieces: a whole library in memory would first have to be allocated and cleared by the
    /// kernel.
    private static func contentDigest(of path: String) throws -> String {
        let file = try FileDescriptor.open(path, .readOnly, options: .closeOnExec)
        return try file.closeAfter {
            var hash = SHA256()
            var piece = [UInt8](repeating: 0, count: 1 << 18)
            while true {
                let count = try piece.withUnsafeMutableBytes { try file.read(into: $0) }
                if count == 0 { return hex(hash.finalize()) }
                piece.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[..<count])) }
            }
        }
    }
}
