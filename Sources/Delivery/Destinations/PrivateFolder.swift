import Concurrency
import Foundation
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder that only this user can read, with a short path, which is gone when its user has finished.
enum PrivateFolder {
    /// Runs `body` with a new folder below `parent`, or below `/tmp` where that would be too long for a socket's path.
    static func with<Value: Sendable>(
        in parent: String, _ body: (FilePath) async throws -> Value
    ) async throws -> Value {
        let path = try await offThread {
            try DeliveryProblem.machine("making a private folder") {
                // The path of gpg's socket may have 107 bytes, and its name has 14.
                let root = parent.utf8.count < 70 ? parent : "/tmp"
                try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
                var template = Array("\(root)/deliver-XXXXXX".utf8CString)
                let made = template.withUnsafeMutableBufferPointer { room in
                    room.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
                }
                guard let made else { throw Errno(rawValue: errno) }
                return FilePath(made)
            }
        }
        do {
            let value = try await body(path)
            try? await offThread { try FileManager.default.removeItem(atPath: path.string) }
            return value
        } catch {
            try? await offThread { try FileManager.default.removeItem(atPath: path.string) }
            throw error
        }
    }

    /// Writes a file that only this user can read.
    static func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite])
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }
}
