import Store
internal import Crypto
internal import Foundation

/// Files named by the digest of their bytes: `ab/cdef…`. Each is written to a temporary file and moved into place when
/// it is complete.
struct ArtifactFolder: Sendable {
    var folder: String

    private var incoming: String { folder + "/incoming" }

    /// The path for a digest; nil if the text is not a SHA-256 in lower case.
    func path(_ sha256: String) -> String? {
        let isDigest = sha256.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
        guard sha256.utf8.count == 64, isDigest else { return nil }
        return "\(folder)/\(sha256.prefix(2))/\(sha256.dropFirst(2))"
    }

    /// Copies `file` into the folder. Refuses it if its bytes don't have the digest `sha256`.
    func keep(_ file: String, sha256: String) throws {
        guard let path = path(sha256) else {
            throw ArchiveError(
                .digestMismatch,
                "\"\(sha256)\" is not a SHA-256, so \"\(file)\" can't be stored under it. This is a bug: report it.")
        }
        let input = try Self.open(file)
        defer { close(input) }
        if FileManager.default.fileExists(atPath: path) {
            try Self.require(try Self.digest(input, file) { _ in }, sha256, file)
            // A retention that runs now must see that the file is needed.
            if utimes(path, nil) == 0, (try? digest(at: path)) == sha256 {
                // Another run may have put it there in the meantime.
                return try Self.flush(folder: folder + "/" + sha256.prefix(2))
            }
            // The existing file was damaged; this is a correct copy.
            guard lseek(input, 0, SEEK_SET) == 0 else { throw Self.failure("read", file) }
        }
        try Self.makeFolder(incoming)
        try Self.makeFolder(folder + "/" + sha256.prefix(2))
        let temporary = incoming + "/" + UUID().uuidString
        try copy(input, file, to: temporary, sha256: sha256)
        guard rename(temporary, path) == 0 else { throw Self.failure("move \"\(temporary)\" to", path) }
        try Self.flush(folder: folder + "/" + sha256.prefix(2))
    }

    /// Marks a stored file as needed, so that a retention that runs now does not remove it. Returns false if there is
    /// none, or if it has another size.
    func want(_ sha256: String, bytes: Int? = nil) -> Bool {
        var status = stat()
        guard let path = path(sha256), stat(path, &status) == 0, bytes ?? Int(status.st_size) == Int(status.st_size)
        else { return false }
        return utimes(path, nil) == 0
    }

    /// Copies a stored file to a new one with these permissions. No file remains if the bytes don't have the digest.
    func export(_ file: String, to path: String, sha256: String, mode: mode_t) throws {
        let input = try Self.open(file)
        defer { close(input) }
        try copy(input, file, to: path, sha256: sha256, mode: mode)
    }

    private func copy(
        _ input: Int32, _ file: String, to temporary: String, sha256: String, mode: mode_t = 0o444
    ) throws {
        let output = Foundation.open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard output >= 0 else { throw Self.failure("create", temporary) }
        defer { close(output) }
        do {
            let digest = try Self.digest(input, file) { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let count = rest.withUnsafeBytes { write(output, $0.baseAddress, $0.count) }
                    guard count > 0 else { throw Self.failure("write", temporary) }
                    rest = rest.dropFirst(count)
                }
            }
            try Self.require(digest, sha256, file)
            guard fsync(output) == 0 else { throw Self.failure("write", temporary) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// The digest of a stored file, computed from its present bytes.
    func digest(at path: String) throws -> String {
        let input = try Self.open(path)
        defer { close(input) }
        return try Self.digest(input, path) { _ in }
    }

    /// Removes incomplete files of dead processes. Only for the owner of the state folder.
    func removeIncoming() {
        try? FileManager.default.removeItem(atPath: incoming)
    }

    /// Every stored file: its digest, its size in bytes, and when it was last marked as needed.
    func all() -> [(sha256: String, bytes: Int, wanted: Date)] {
        let manager = FileManager.default
        var found: [(sha256: String, bytes: Int, wanted: Date)] = []
        for prefix in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] where prefix.utf8.count == 2 {
            for rest in (try? manager.contentsOfDirectory(atPath: folder + "/" + prefix)) ?? [] {
                guard let path = path(prefix + rest), let facts = try? manager.attributesOfItem(atPath: path) else {
                    continue
                }
                let wanted = facts[.modificationDate] as? Date ?? .distantFuture
                found.append((prefix + rest, (facts[.size] as? NSNumber)?.intValue ?? 0, wanted))
            }
        }
        return found.sorted { $0.sha256 < $1.sha256 }
    }

    func remove(_ sha256: String) {
        guard let path = path(sha256) else { return }
        unlink(path)
    }

    /// A symbolic link at `path` is refused, because a step may have made it.
    private static func open(_ path: String) throws -> Int32 {
        let descriptor = Foundation.open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("read", path) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ArchiveError(
                .unreadableFile, "\"\(path)\" is not a regular file. Only regular files can be artifacts.")
        }
        return descriptor
    }

    private static func digest(_ input: Int32, _ file: String, each: ([UInt8]) throws -> Void) throws -> String {
        var hash = SHA256()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = buffer.withUnsafeMutableBytes { read(input, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure("read", file) }
            if count == 0 { break }
            let piece = count == buffer.count ? buffer : Array(buffer[..<count])
            hash.update(data: piece)
            try each(piece)
        }
        let digits = Array("0123456789abcdef".utf8)
        return String(
            decoding: hash.finalize().flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func require(_ digest: String, _ expected: String, _ file: String) throws {
        guard digest != expected else { return }
        throw ArchiveError(
            .digestMismatch,
            "\"\(file)\" has the SHA-256 \(digest), but the report says \(expected): it was changed after the step ended. "
                + "It was not stored; run the workflow again.")
    }

    private static func makeFolder(_ path: String) throws {
        guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw failure("create", path) }
    }

    private static func flush(folder: String) throws {
        let descriptor = Foundation.open(folder, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open", folder) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write", folder) }
    }

    private static func failure(_ verb: String, _ path: String) -> ArchiveError {
        let code = errno
        let reason = String(cString: strerror(code))
        return ArchiveError(
            code == ENOSPC || code == EDQUOT ? .diskFull : .unreadableFile,
            "Could not \(verb) \"\(path)\": \(reason). Check the file, its owner and the free space.")
    }
}
