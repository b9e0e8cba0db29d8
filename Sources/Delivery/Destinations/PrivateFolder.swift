import Concurrency
import Crypto
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
                let (root, beginning) = place(parent)
                try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
                var template = Array("\(root)/\(beginning)XXXXXX".utf8CString)
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

    /// Where the folders of `parent` are, and how their names begin.
    private static func place(_ parent: String) -> (root: String, beginning: String) {
        // The path of gpg's socket may have 107 bytes, and its name has 14.
        guard parent.utf8.count >= 70 else { return (parent, "deliver-") }
        // By the digest, those of this parent are found again.
        let digest = SHA256.hash(data: Data(parent.utf8)).prefix(8).map { String(format: "%02x", $0) }.joined()
        return ("/tmp", "deliver-\(digest)-")
    }

    /// Removes the folders that a killed process has left; nobody else uses `parent` now. It blocks.
    ///
    /// - Returns: How many there were.
    @discardableResult
    static func removeLeft(in parent: String) throws -> Int {
        let (root, beginning) = place(parent)
        let files = FileManager.default
        guard files.fileExists(atPath: root) else { return 0 }
        return try DeliveryProblem.machine("removing what is left in \(root)") {
            let left = try files.contentsOfDirectory(atPath: root).filter { name in
                // Somebody else may have made one of such a name in /tmp.
                name.hasPrefix(beginning) && isOwnFolder("\(root)/\(name)")
            }
            for name in left { try files.removeItem(atPath: "\(root)/\(name)") }
            return left.count
        }
    }

    private static func isOwnFolder(_ path: String) -> Bool {
        // These are of a link itself.
        let facts = try? FileManager.default.attributesOfItem(atPath: path)
        return facts?[.type] as? FileAttributeType == .typeDirectory
            && (facts?[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid()
    }

    /// Writes a file that only this user can read.
    static func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .noFollow, .closeOnExec],
            permissions: [.ownerReadWrite])
        try file.closeAfter { _ = try file.writeAll(bytes) }
    }
}
