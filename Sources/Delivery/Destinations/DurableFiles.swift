import Concurrency
import Crypto
import Foundation
import SystemCalls
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files that are whole or not there, after a crash too. All of it blocks.
enum DurableFiles {
    private static let piece = 1 << 20
    /// The end of the names of files that are being written.
    static let unfinished = ".part"

    /// Copies a file of a release and makes it durable.
    ///
    /// - Throws: ``DeliveryProblem`` with `.machine` where the source is not what the release says.
    static func copy(_ file: ReleaseFile, to path: FilePath) throws {
        let source = try FileDescriptor.open(FilePath(file.path), .readOnly, options: [.closeOnExec])
        try source.closeAfter {
            let target = try FileDescriptor.open(
                path, .writeOnly, options: [.create, .truncate, .noFollow, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            try target.closeAfter {
                let found = try digest(source) { try target.writeAll($0) }
                guard found == file.sha256 else {
                    throw DeliveryProblem(
                        .machine, "\(file.name) on this machine is not the file of the release any more; make it again")
                }
                try flush(target)
            }
        }
    }

    /// Writes a small file beside `path`, makes it durable and puts it in its place.
    static func write(_ bytes: some Sequence<UInt8>, to path: FilePath) throws {
        let part = FilePath(path.string + unfinished)
        let target = try FileDescriptor.open(
            part, .writeOnly, options: [.create, .truncate, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite, .groupRead, .otherRead])
        try target.closeAfter {
            _ = try target.writeAll(bytes)
            try flush(target)
        }
        try move(part, to: path)
    }

    /// Renames, and makes the name durable. A folder never replaces one that has files.
    static func move(_ from: FilePath, to path: FilePath) throws {
        guard rename(from.string, path.string) == 0 else { throw Errno(rawValue: errno) }
        try flush(folder: path.removingLastComponent())
    }

    static func flush(folder path: FilePath) throws {
        let folder = try FileDescriptor.open(path, .readOnly, options: [.directory, .closeOnExec])
        try folder.closeAfter { try flush(folder) }
    }

    /// Lower-case hex; nil if there is no such file.
    static func sha256(_ path: FilePath) throws -> String? {
        do {
            let file = try FileDescriptor.open(path, .readOnly, options: [.noFollow, .closeOnExec])
            return try file.closeAfter { try digest(file) { _ in } }
        } catch Errno.noSuchFileOrDirectory {
            return nil
        }
    }

    private static func digest(
        _ file: FileDescriptor, _ each: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> String {
        var digest = SHA256()
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { room.deallocate() }
        while true {
            let count = try file.read(into: room)
            if count == 0 { break }
            let bytes = UnsafeRawBufferPointer(rebasing: room[..<count])
            digest.update(bufferPointer: bytes)
            try each(bytes)
        }
        return digest.finalize().map { String(format: "%02x", $0) }.joined()
    }

    private static func flush(_ file: FileDescriptor) throws {
        guard fsync(file.rawValue) == 0 else { throw Errno(rawValue: errno) }
    }
}

extension DeliveryProblem {
    /// Runs blocking work on files; what the system says becomes a problem of this machine.
    static func machine<Value>(_ what: String, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let problem as DeliveryProblem { throw problem } catch {
            throw DeliveryProblem(
                .machine, "\(what) failed: \(error.plainReason); check the folder, its owner and its space")
        }
    }

    /// Runs `body` while nobody else writes in this folder, another daemon included. The folder is made if it is missing.
    static func alone<Value>(in folder: String, _ body: () async throws -> Value) async throws -> Value {
        try await onOwnThread {
            try machine("making \(folder)") {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
        }
        return try await alone(with: "\(folder)/.lock", body)
    }

    /// Runs `body` while nobody else holds the lock of this file.
    static func alone<Value>(with path: String, _ body: () async throws -> Value) async throws -> Value {
        do { return try await withFileLock(path, body) } catch let error as FileLockError {
            let reason = Errno(rawValue: error.code)
            throw DeliveryProblem(.machine, "\(path) can't be locked: \(reason); check the folder and its owner")
        }
    }
}
