import TestBasics
import StateFiles
import TestSupport
import Engine
import Foundation
import Git
import Testing

import Sandbox
import WorkflowPrograms
@testable import Layers

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A repository and a folder for workspaces over layers, in which steps run as in a real run.
struct LayerGround: Sendable {
    let folder: String
    let sandbox: Sandbox
    let users: StepUsers
    let layering: Layering

    /// A name with characters that lists of layers must escape.
    private static let spaces = "/spaces a:b,c\\\nd"

    func space(_ name: String) -> String { "\(folder)\(LayerGround.spaces)/\(name)" }

    var store: String { "\(folder)/store.git" }

    static func with(_ body: (LayerGround) async throws -> Void) async throws {
        // On a disk, since a file system in memory behaves differently.
        let room = try TemporaryFolder(.disk)
        defer { withExtendedLifetime(room) {} }
        let folder = room.path
        try FileManager.default.createDirectory(atPath: folder + spaces, withIntermediateDirectories: true)
        let stepInit = try Installation.stepInit()
        let sandbox = try await Sandbox.find(stepInit: stepInit, toolchain: try await Toolchain.find().swiftc)
        let users = StepUsers(seed: folder)
        let layering = try await Layering.find(
            stepInit: stepInit, sandbox: sandbox, users: users, in: folder + spaces)
        let ground = LayerGround(folder: folder, sandbox: sandbox, users: users, layering: layering)
        _ = try await TestRepository.make(at: ground.store, isBare: true)
        do {
            try await body(ground)
        } catch {
            try? await Workspace.remove(folder)
            throw error
        }
        try await Workspace.remove(folder)
    }

    /// Commits lines for git-fast-import(1) on top of `main`.
    func commit(_ content: String, to branch: String = "main") async throws -> OID {
        let from = (try? await id(branch)) == nil ? "" : "from refs/heads/\(branch)^0\n"
        try await TestRepository(at: store).importing(
            "commit refs/heads/\(branch)\ncommitter A <a@example.com> 1700000000 +0000\ndata 1\nx\n"
                + "\(from)\(content)\n")
        return try await id(branch)
    }

    private func id(_ branch: String) async throws -> OID {
        try await withRepository(at: store) { try $0.resolve("refs/heads/\(branch)") }
    }

    /// A workspace for a run of its own.
    func workspace(
        _ commit: OID, over base: WorkspaceSource? = nil, user: StepUser? = nil, keepsLayers: Bool = true
    ) async throws -> Workspace {
        try await Workspace.make(
            at: space(UUID().uuidString), commit: commit, store: store, base: base, user: user,
            keepsLayers: keepsLayers, layering: layering)
    }

    /// The finished workspace as a source for later ones; no process may be alive in it.
    func seal(_ workspace: Workspace) async throws -> WorkspaceSource {
        await workspace.close()
        let upper = try #require(workspace.upper)
        try await Workspace.remove("\(upper.path)/.git")
        return WorkspaceSource(
            layers: [upper] + workspace.layers, tree: try #require(workspace.tree),
            index: try #require(workspace.index))
    }

    /// Runs a shell command like a step of a run, and returns its output.
    func step(
        _ script: String, in workspace: Workspace, as user: StepUser?, fails: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) async throws -> String {
        let inside = sandbox.command(
            SandboxPolicy(),
            mounts: [SandboxMount(workspace.path, at: Sandbox.Place.workspace, .write), SandboxMount(store)],
            user: user, lifetime: .withParent, directory: Sandbox.Place.workspace, ["/bin/sh", "-ec", script])
        let words = workspace.enter + inside
        let result = try await ExternalCommand(
            words[0], Array(words.dropFirst()), in: "/",
            environment: Sandbox.linkerPath.merging(["PATH": "/usr/bin:/bin", "HOME": "/sandbox/home"]) { $1 },
            deadline: .seconds(60)
        ).run()
        #expect(result.succeeded != fails, "\(result.text)", sourceLocation: location)
        return result.text
    }

    /// Everything about a folder's files that is visible from outside: names, kinds, modes, owners, times, sizes,
    /// contents.
    func fingerprint(_ folder: String) async throws -> String {
        let result = try await ExternalCommand(
            "/bin/sh",
            [
                "-ec",
                """
                find . -printf '%y %m %U %G %n %s %T@ %p -> %l\\n' | LC_ALL=C sort
                find . -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha1sum
                """,
            ], in: folder, outputLimit: 16 << 20
        ).run()
        #expect(result.succeeded, "\(result.text)")
        return result.text
    }

    /// The same as a step sees it, without what an overlay changes: owners, link counts, sizes of folders.
    static let listing = """
        find . -mindepth 1 -path ./.git -prune -o -printf '%y %m %P -> %l\\n' | LC_ALL=C sort
        find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 -r sha1sum
        """
}
