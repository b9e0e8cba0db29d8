internal import Crypto
package import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Reads files of a release, which somebody else wrote, with bounds. It blocks: call it off the cooperative pool.
package enum ReleaseBytes {
    /// The content of a side file; nil if there is none.
    ///
    /// - Throws: ``SigningError`` with `unreadable` or `tooLarge`.
    package static func content(of path: String, limit: Int) throws(SigningError) -> Data? {
        guard let (file, size) = try open(path) else { return nil }
        defer { close(file) }
        guard size <= limit else { throw tooLarge(path, limit) }
        var content = Data()
        try pieces(of: file, path) { piece throws(SigningError) in
            content.append(contentsOf: piece)
            guard content.count <= limit else { throw tooLarge(path, limit) }
        }
        return content
    }

    /// The digests of a file of any size up to `limit`, which is read once; nil if there is none.
    package static func digests(of path: String, limit: Int64) throws(SigningError) -> FileDigests? {
        guard let (file, size) = try open(path) else { return nil }
        defer { close(file) }
        guard size <= limit else { throw tooLarge(path, Int(limit)) }
        var read: Int64 = 0
        var sha256 = SHA256()
        var blake2b = BLAKE2b()
        try pieces(of: file, path) { piece throws(SigningError) in
            read += Int64(piece.count)
            guard read <= limit else { throw tooLarge(path, Int(limit)) }
            sha256.update(bufferPointer: piece)
            blake2b.update(piece)
        }
        return FileDigests(bytes: read, sha256: sha256.finalize(), blake2b: blake2b.finalize())
    }

    /// Opens a regular file and says how large it is. A pipe or a device would not end, or would block.
    private static func open(_ path: String) throws(SigningError) -> (file: Int32, size: Int64)? {
        #if canImport(Darwin)
            let file = Darwin.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #else
            let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        #endif
        guard file >= 0 else {
            let number = errno
            if number == ENOENT { return nil }
            throw SigningError(.unreadable, "\(path) can't be opened: \(String(cString: strerror(number)))")
        }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw SigningError(.unreadable, "\(path) is no regular file")
        }
        return (file, Int64(info.st_size))
    }

    private static func pieces(
        of file: Int32, _ path: String, _ body: (UnsafeRawBufferPointer) throws(SigningError) -> Void
    ) throws(SigningError) {
        let space = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { space.deallocate() }
        while true {
            let count = read(file, space.baseAddress, space.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else {
                throw SigningError(.unreadable, "\(path) can't be read: \(String(cString: strerror(errno)))")
            }
            if count == 0 { return }
            try body(UnsafeRawBufferPointer(rebasing: space[..<count]))
        }
    }

    private static func tooLarge(_ path: String, _ limit: Int) -> SigningError {
        SigningError(.tooLarge, "\(path) has more than \(limit) bytes, which no such file has")
    }
}

/// What identifies a file in the forms of signatures.
package struct FileDigests: Sendable, Equatable {
    /// The file's size.
    package let bytes: Int64
    let sha256: SHA256Digest
    let blake2b: [UInt8]

    /// SHA-256 in lower-case hexadecimal digits.
    package var sha256Text: String { String(hexadecimal: sha256) }

    init(bytes: Int64, sha256: SHA256Digest, blake2b: [UInt8]) {
        self.bytes = bytes
        self.sha256 = sha256
        self.blake2b = blake2b
    }

    /// The digests of bytes in memory.
    package init(of data: Data) {
        self.init(bytes: Int64(data.count), sha256: SHA256.hash(data: data), blake2b: BLAKE2b.hash(data))
    }
}
