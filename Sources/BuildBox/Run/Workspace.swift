import Engine
import Foundation
import Git

/// A fresh folder for one attempt of a run: never reused, and never read by libgit2 after it was made.
struct Workspace: Sendable {
    let path: String

    /// Checks `commit` out of `store` into a new folder.
    static func make(at path: String, commit: OID, store: String) async throws -> Workspace {
        try? await remove(path)
        try await offThread {
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        }
        try await withRepository(at: store) { try $0.checkout(commit, into: path) }
        return Workspace(path: path)
    }

    /// Removes a folder that steps wrote, whatever modes they left; links are removed, not followed.
    static func remove(_ path: String) async throws {
        try await offThread { try FolderRemoval.remove(path) }
    }
}
