import Engine
import Foundation
import Git

/// The files that one attempt of a run works on: a fresh checkout, or private changes over layers that it shares.
///
/// Never reused, and never read by libgit2 after a step could have written to it.
struct Workspace: Sendable {
    /// Everything of it; what ``remove(_:)`` is given.
    let folder: String
    /// What sandboxes are told to show as the workspace: for layers a path in the namespace that ``enter`` leads to.
    let path: String
    /// Where the box itself reads and writes it.
    let view: String
    /// What the run wrote, and of the difference what the box wrote; nil for a plain folder.
    let upper: Layer?
    /// What lies below ``upper``, newest first, but for the workspace's own `.git`.
    let layers: [Layer]
    /// The Git index of the tested tree, as ``WorkspaceBase/index``; nil for a plain folder.
    let index: String?
    /// Tracked paths that differ from the base: the box wrote or removed them before any step. Bytes that are not
    /// UTF-8 are U+FFFD in them.
    let written: [String]
    /// Nil for a plain folder.
    let mount: WorkspaceMount?

    /// The words before a command that starts a sandbox; none for a plain folder.
    var enter: [String] { mount?.enter ?? [] }

    /// Makes the tested commit's files.
    ///
    /// - Parameters:
    ///   - folder: Holds all of it; whatever is there goes.
    ///   - store: The repository that has the commit.
    ///   - base: What to lay it over, if that can be done here; else the commit is checked out.
    ///   - user: Whom steps become; they own what they see.
    ///   - keepsLayers: Whether a checkout, too, is kept apart from what steps write, so that both can become a base.
    ///   - layering: Nil where nothing can be mounted.
    ///   - isOpen: Whether `folder` is there already, new and empty, and a sandbox shows it.
    static func make(
        at folder: String, commit: OID, store: String, base: WorkspaceBase? = nil, user: StepUser? = nil,
        keepsLayers: Bool = false, layering: Layering? = nil, isOpen: Bool = false
    ) async throws -> Workspace {
        // Shown in a sandbox already, it must stay the folder that it is.
        if !isOpen { try? await remove(folder) }
        try await offThread {
            try FileManager.default.createDirectory(
                atPath: URL(fileURLWithPath: folder).deletingLastPathComponent().path,
                withIntermediateDirectories: true)
        }
        try await withRepository(at: store) { try $0.checkout(commit, into: folder) }
        return Workspace(plain: folder)
    }

    init(plain folder: String) {
        self.folder = folder
        path = folder
        view = folder
        upper = nil
        layers = []
        index = nil
        written = []
        mount = nil
    }

    /// Ends the mount: after this nothing is at ``view``; the folders stay. Nothing of the run may be alive.
    func close() async {}

    /// Removes a folder that steps wrote, whatever modes they left; links are removed, not followed.
    static func remove(_ folder: String) async throws {
        try await offThread { try FolderRemoval.remove(folder) }
    }
}
