import Concurrency
import Engine
import Foundation
package import Git
import Pipeline
package import Sandbox
import SystemPackage

/// The files that one attempt of a run works on: a fresh checkout, or private changes over shared layers.
///
/// Never used again by another attempt, and never read by libgit2 once a step may have written to it.
package struct Workspace: Sendable {
    /// The folder with all of it, for ``remove(_:)``.
    package let folder: String
    /// The path that sandboxes show as the workspace; with layers it is in the namespace that ``enter`` leads to.
    package let path: String
    /// The path at which the daemon reads and writes it.
    package let view: String
    /// The tree of the tested commit; nil for a plain folder.
    package let tree: OID?
    /// Whether it lies over the given source; false if all files were checked out.
    package let isOverBase: Bool
    /// What the run wrote; nil for a plain folder.
    package let upper: Layer?
    /// The layers below ``upper``, newest first, without the `.git` of the workspace. Together they are a snapshot when
    /// the run has ended. Those below ``folder`` must be moved away before it is removed.
    package let layers: [Layer]
    /// The Git index of the tested tree, see ``WorkspaceSource/index``, out of reach of steps; nil for a plain folder.
    package let index: String?
    /// The tracked paths in which the tested tree differs from the source; of removed folders only the topmost. Bytes
    /// that are not UTF-8 are U+FFFD in them.
    package let written: [String]
    /// How steps and the daemon get there; nil for a plain folder.
    package let mount: WorkspaceMount?
    /// Why it is a plain folder although it was to have layers.
    package var problem: String?
    /// How long it took to make.
    private(set) var took = Duration.zero
    private let holder: OverlayMount?

    /// The words before the command that starts a sandbox; none for a plain folder.
    package var enter: [String] { mount?.enter ?? [] }

    /// Makes the files of the tested commit.
    ///
    /// - Parameters:
    ///   - folder: The folder for all of it; what is there is removed.
    ///   - store: The repository that has the commit.
    ///   - base: The layers to start from where that is possible; without them the commit is checked out.
    ///   - user: The user of the steps, who owns what they see.
    ///   - keepsLayers: Whether a checkout, too, is kept apart from what steps write, so that both can become a
    /// snapshot.
    ///   - layering: Nil if nothing can be mounted.
    ///   - isOpen: Whether `folder` exists and a sandbox shows it: new and empty, or as `opened` made it.
    ///   - opened: What mounts the layers that the sandbox will show, and has made `folder` for that. If it is used, it
    /// ends with the workspace.
    package static func make(
        at folder: String, commit: OID, store: String, base: WorkspaceSource? = nil, user: StepUser? = nil,
        keepsLayers: Bool = false, layering: Layering? = nil, isOpen: Bool = false, opened: OverlayMount? = nil
    ) async throws -> Workspace {
        let start = ContinuousClock.now
        var made = try await begin(
            at: folder, commit: commit, store: store, base: base, user: user, keepsLayers: keepsLayers,
            layering: layering, isOpen: isOpen, opened: opened)
        made.took = ContinuousClock.now - start
        return made
    }

    private static func begin(
        at folder: String, commit: OID, store: String, base: WorkspaceSource?, user: StepUser?, keepsLayers: Bool,
        layering: Layering?, isOpen: Bool, opened: OverlayMount?
    ) async throws -> Workspace {
        let isLayered = layering != nil && (base != nil || keepsLayers)
        // A sandbox shows it already, so it must stay the same folder.
        let stays = isOpen && isLayered == (opened != nil)
        if !stays { try? await remove(folder) }
        var problem: String?
        if let layering, isLayered {
            // A pre-started sandbox may have died. Retry with a fresh one before blaming the source.
            for holder in stays ? [opened, nil] : [nil] {
                do {
                    return try await layered(
                        at: folder, commit: commit, store: store, base: base, user: user, layering: layering,
                        opened: holder)
                } catch let error as CancellationError {
                    throw error
                } catch let error as CheckoutProblem {
                    // Another checkout would take as long, and as much memory.
                    throw error
                } catch {
                    // A slow workspace is better than none; if the commit is missing, the checkout below fails, too.
                    problem = "\(error)"
                    try await remove(folder)
                }
            }
        }
        let isNew = !stays || problem != nil
        let cost = try await withRepository(at: store) { repository in
            if isNew {
                try FileManager.default.createDirectory(
                    atPath: URL(fileURLWithPath: folder).deletingLastPathComponent().path,
                    withIntermediateDirectories: true)
            }
            let cost = try repository.checkoutCost(commit, writing: nil, limits: .none)
            if cost.isSmall { try repository.checkout(commit, into: folder) }
            return cost
        }
        if !cost.isSmall { try await CheckoutProcess(commit, of: store, to: .folder(folder), cost: cost).run() }
        var made = Workspace(plain: folder)
        made.problem = problem
        return made
    }

    package init(plain folder: String) {
        self.folder = folder
        path = folder
        view = folder
        tree = nil
        isOverBase = false
        upper = nil
        layers = []
        index = nil
        written = []
        mount = nil
        holder = nil
    }

    package init(
        folder: String, holder: OverlayMount, tree: OID, isOverBase: Bool, upper: Layer, layers: [Layer],
        index: String?,
        written: [String]
    ) {
        self.folder = folder
        path = "\(folder)/merged"
        mount = holder.place
        view = mount?.view.string ?? path
        self.holder = holder
        self.tree = tree
        self.isOverBase = isOverBase
        self.upper = upper
        self.layers = layers
        self.index = index
        self.written = written
    }

    /// In words, for the log.
    package var account: String {
        let milliseconds = String(format: "%.1f", took.inSeconds * 1_000)
        return "workspace in \(milliseconds) ms, over \(layers.count) layers, \(written.count) paths written"
    }

    /// Unmounts it: nothing is at ``view`` any more, and the folders stay. No process of the run may be alive.
    package func close() async {
        guard let holder else { return }
        try? await offThread { holder.close() }
    }

    /// Does the same, and blocks.
    package func closeNow() { holder?.close() }

    /// Removes a folder that steps wrote, whatever modes they left. Links are removed, not followed.
    package static func remove(_ folder: String) async throws {
        try await offThread { try FolderRemoval.remove(folder) }
    }
}
