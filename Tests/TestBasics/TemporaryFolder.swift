import Foundation

/// A folder for one test, which is removed with the value.
package final class TemporaryFolder: Sendable {
    /// Where a folder is made.
    package enum Place: Sendable {
        /// In memory if the machine has a place for that, because some tests make thousands of files. The path is short
        /// enough for a socket.
        case memory
        /// On a disk: programs can be started from there, and overlays and file times are those of a real file system.
        case disk

        fileprivate var folder: String {
            switch self {
            case .memory: FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
            case .disk: FileManager.default.temporaryDirectory.path
            }
        }
    }

    package let path: String

    /// Makes an empty folder. Users of steps can enter one that is on a disk; one in memory is this user's alone.
    package init(_ place: Place = .memory) throws {
        var folder = place.folder
        while folder.count > 1 && folder.hasSuffix("/") { folder.removeLast() }
        path = folder + "/pipectl-t\(getpid())-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false,
            attributes: [.posixPermissions: place == .disk ? 0o755 : 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// A path in the folder.
    package subscript(_ name: String) -> String { "\(path)/\(name)" }

    /// Makes a folder in the folder, and returns its path.
    @discardableResult
    package func folder(_ name: String) throws -> String {
        try FileManager.default.createDirectory(atPath: self[name], withIntermediateDirectories: true)
        return self[name]
    }

    /// Writes a file, with the folders above it, and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: some Sequence<UInt8>) throws -> String {
        let file = self[name]
        try FileManager.default.createDirectory(
            atPath: (file as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        return file
    }
}

/// Runs `body` with the path of a folder, which is removed afterwards.
package func withTemporaryFolder<T>(
    _ place: TemporaryFolder.Place = .memory, _ body: (String) async throws -> T
) async throws -> T {
    let folder = try TemporaryFolder(place)
    defer { withExtendedLifetime(folder) {} }
    return try await body(folder.path)
}
