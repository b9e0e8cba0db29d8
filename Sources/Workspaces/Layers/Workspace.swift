import SystemCalls
import Engine
import Foundation
import Git
import Pipeline
package import Sandbox
import SystemPackage

/// The files that one attempt of a run works on: a fresh checkout, or private changes over layers that it shares.
///
/// Never reused, and never read by libgit2 after a step could have written to it.
package struct Workspace: Sendable {
    /// Everything of it; what ``remove(_:)`` is given.
    package let folder: String
    /// What sandboxes are told to show as the workspace: for layers a path in the namespace that ``enter`` leads to.
    package let path: String
    /// Where the box itself reads and writes it.
    package let view: String
    /// The tested commit's tree; nil for a plain folder.
    let tree: OID?
    /// Whether it lies over the base that was given; false when all files were checked out.
    let isOverBase: Bool
    /// What the run wrote; nil for a plain folder.
    let upper: Layer?
    /// What lies below ``upper``, newest first, but for the workspace's own `.git`. Together they are a base when the
    /// run has ended; those below ``folder`` must be moved away before that is removed.
    let layers: [Layer]
    /// The Git index of the tested tree, as ``WorkspaceSource/index``, out of the steps' reach; nil for a plain folder.
    let index: String?
    /// Tracked paths in which the tested tree differs from the base's, of what is gone the topmost folder. Bytes that
    /// are not UTF-8 are U+FFFD in them.
    package let written: [String]
    /// How steps and the box get there; nil for a plain folder.
    package let mount: WorkspaceMount?
    /// Why it is a plain folder although layers were asked for.
    package var problem: String?
    /// How long it took to make.
    private(set) var took = Duration.zero
    private let holder: LayerHolder?

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
    ///   - isOpen: Whether `folder` is there already, and a sandbox shows it: new and empty, or as `opened` has it.
    ///   - opened: Where what that sandbox shows are layers to come, what mounts them and has made `folder` for it. It ends
    ///     with the workspace where it is used.
    static func make(
        at folder: String, commit: OID, store: String, base: WorkspaceSource? = nil, user: StepUser? = nil,
        keepsLayers: Bool = false, layering: Layering? = nil, isOpen: Bool = false, opened: LayerHolder? = nil
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
        layering: Layering?, isOpen: Bool, opened: LayerHolder?
    ) async throws -> Workspace {
        let isLayered = layering != nil && (base != nil || keepsLayers)
        // Shown in a sandbox already, it must stay the folder that it is.
        let stays = isOpen && isLayered == (opened != nil)
        if !stays { try? await remove(folder) }
        var problem: String?
        if let layering, isLayered {
            // What waited may have come to harm meanwhile, which says nothing about the base.
            for holder in stays ? [opened, nil] : [nil] {
                do {
                    return try await layered(
                        at: folder, commit: commit, store: store, base: base, user: user, layering: layering,
                        opened: holder)
                } catch let error as CancellationError {
                    throw error
                } catch let error as CheckoutProblem {
                    // Another checkout would take as long, and as much.
                    throw error
                } catch {
                    // Slow is better than not at all; a commit that is missing is missing below, too.
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

    init(plain folder: String) {
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

    init(
        folder: String, holder: LayerHolder, tree: OID, isOverBase: Bool, upper: Layer, layers: [Layer], index: String?,
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
    var account: String {
        let milliseconds = String(format: "%.1f", took.inSeconds * 1_000)
        return "workspace in \(milliseconds) ms, over \(layers.count) layers, \(written.count) paths written"
    }

    /// Ends the mount: after this nothing is at ``view``; the folders stay. Nothing of the run may be alive.
    package func close() async {
        guard let holder else { return }
        try? await offThread { holder.close() }
    }

    /// The same, blocking.
    func closeNow() { holder?.close() }

    /// Removes a folder that steps wrote, whatever modes they left; links are removed, not followed.
    package static func remove(_ folder: String) async throws {
        try await offThread { try FolderRemoval.remove(folder) }
    }
}
