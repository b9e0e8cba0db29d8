import TestBasics
import Foundation
package import SystemPackage

/// A test's own folder with a workspace in it; gone when the test ends.
package struct RunFolder: Sendable {
    @TaskLocal package static var current = RunFolder(root: "/nonexistent")

    package let root: String

    package init(root: String) { self.root = root }

    /// Runs `body` with a new folder as ``current``, and removes the folder.
    package static func provide(_ body: @concurrent @Sendable () async throws -> Void) async throws {
        try await withTemporaryFolder(.disk) { root in
            try await $current.withValue(RunFolder(root: root)) { try await body() }
        }
    }

    /// A folder below the root, created if needed.
    package func path(_ name: String) -> String {
        let path = root + "/" + name
        try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    package var workspace: String { path("workspace") }

    /// The text of a file in the workspace.
    package func text(_ name: String) -> String? {
        try? String(contentsOfFile: workspace + "/" + name, encoding: .utf8)
    }

    package func write(_ text: String, to name: String) throws {
        let target = URL(fileURLWithPath: workspace + "/" + name)
        try FileManager.default.createDirectory(
            at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try text.write(to: target, atomically: false, encoding: .utf8)
    }

    /// Waits until `isTrue`, in small steps; the test's time limit bounds it.
    package static var stepInit: FilePath { FilePath(Products.path("stepinit")) }
}
