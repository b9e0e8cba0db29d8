internal import Crypto
internal import Dispatch
internal import Foundation
internal import Synchronization

extension IndexFile {
    /// With fewer entries, a second thread would cost more than it saves.
    private static let parallelBytes = 512 << 10
    /// The most pieces in one writev(2): IOV_MAX of Linux and macOS.
    private static let mostPieces = 1_024

    /// Writes the pieces, which begin with a header, and their checksum to the new file `path`.
    ///
    /// A large index is hashed and written at the same time, and its bytes are not copied.
    static func write(
        _ pieces: [IndexPatch.Piece], of old: UnsafeRawBufferPointer, to path: String
    ) throws(GitError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw problem(path, errno) }
        defer { close(descriptor) }
        // A change has few new entries. Each is copied once, so that all pieces are bytes at a fixed address.
        var added: [UInt8] = []
        for case .added(let bytes) in pieces { added += bytes }
        let code = added.withUnsafeBytes { added in
            var used = 0
            let parts = pieces.map { piece in
                switch piece {
                case .kept(let range): return Part(old[range])
                case .added(let bytes):
                    defer { used += bytes.count }
                    return Part(added[used..<used + bytes.count])
                }
            }
            return put(parts, into: descriptor)
        }
        guard code == 0 else { throw problem(path, code) }
    }

    /// Bytes at a fixed address while they are hashed and written, as numbers that two threads may share.
    private struct Part: Sendable {
        let start: UInt
        let count: Int

        init(_ bytes: Slice<UnsafeRawBufferPointer>) {
            let bytes = UnsafeRawBufferPointer(rebasing: bytes)
            (start, count) = (UInt(bitPattern: bytes.baseAddress), bytes.count)
        }

        var bytes: UnsafeRawBufferPointer {
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: start), count: count)
        }
    }

    /// Writes the parts and their checksum. Returns 0, or an errno.
    private static func put(_ parts: [Part], into descriptor: Int32) -> Int32 {
        guard parts.reduce(0, { $0 + $1.count }) >= parallelBytes else {
            return putAll(parts.map(\.bytes), digest(of: parts), into: descriptor)
        }
        let checksum = Mutex<[UInt8]>([])
        let code = Mutex<Int32>(0)
        DispatchQueue.concurrentPerform(iterations: 2) { number in
            if number == 0 {
                let digest = digest(of: parts)
                checksum.withLock { $0 = digest }
            } else {
                let problem = put(parts.map(\.bytes), into: descriptor)
                code.withLock { $0 = problem }
            }
        }
        let problem = code.withLock { $0 }
        return problem != 0 ? problem : putAll([], checksum.withLock { $0 }, into: descriptor)
    }

    private static func putAll(_ parts: [UnsafeRawBufferPointer], _ checksum: [UInt8], into descriptor: Int32) -> Int32
    {
        checksum.withUnsafeBytes { put(parts + [$0], into: descriptor) }
    }

    private static func digest(of parts: [Part]) -> [UInt8] {
        var digest = Insecure.SHA1()
        for part in parts { digest.update(bufferPointer: part.bytes) }
        return Array(digest.finalize())
    }

    /// Returns 0, or an errno.
    private static func put(_ parts: [UnsafeRawBufferPointer], into descriptor: Int32) -> Int32 {
        var left = parts.map {
            iovec(iov_base: UnsafeMutableRawPointer(mutating: $0.baseAddress), iov_len: $0.count)
        }[...]
        while !left.isEmpty {
            var written = left.withUnsafeBufferPointer {
                writev(descriptor, $0.baseAddress, Int32(min($0.count, mostPieces)))
            }
            guard written >= 0 else {
                if errno == EINTR { continue }
                return errno
            }
            // Some file systems write nothing, without an error, when they are full.
            if written == 0, left.contains(where: { $0.iov_len > 0 }) { return ENOSPC }
            while let first = left.first, first.iov_len <= written {
                written -= first.iov_len
                left.removeFirst()
            }
            guard written > 0, let first = left.first else { continue }
            left[left.startIndex] = iovec(iov_base: first.iov_base + written, iov_len: first.iov_len - written)
        }
        return 0
    }

    private static func problem(_ path: String, _ code: Int32) -> GitError {
        GitError(
            call: "index", code: .failed,
            message: "\"\(path)\" can't be written: \(String(cString: strerror(code))). Check its disk.",
            systemError: code)
    }
}
