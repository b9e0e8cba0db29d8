import Concurrency
import Engine
import Foundation
import Git
package import Sandbox

/// The folders of a layered workspace. All of them but `upper` are our own:
///
/// - `git`: the `.git` of the workspace with its index. It is the topmost layer below `upper`, and stepinit marks it so
///   that nothing that a layer below has as `.git` shows through. Git replaces its files instead of changing them, so
/// the changes of steps go to `upper`, and the index in here stays as it was written.
/// - `tree`: the files of the tested tree that differ from the snapshot, and marks for those that it has in excess;
///   without a snapshot all files. Nothing is written through folders that a step has filled: if a step put a link in
///   the place of a folder, the kernel hides it.
/// - `upper`, `work`: what steps write, and where the kernel prepares it.
/// - `merged`: the mount of all this, in the namespace of the holder.
extension Workspace {
    /// Makes the folders of a workspace before its layers are known, and starts what will mount it. Blocks.
    ///
    /// - Parameter owned: The folders that are filled by us.
    /// - Throws: `Errno`; errors of `FileManager`.
    package static func open(
        at folder: String, owned: [String] = ["git", "tree"], user: StepUser?, layering: Layering
    ) throws -> OverlayMount {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in owned + ["upper", "work", "merged"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
        }
        try Layering.prepare(upper: "\(folder)/upper", for: user)
        return try OverlayMount.open(stepInit: layering.stepInit, folder: folder, user: user)
    }

    /// - Parameter opened: The result of ``open(at:owned:user:layering:)`` for `folder` and `user`, if it was called.
    /// - Throws: ``OverlayProblem``; `Errno`; `GitError` if the index of the snapshot is damaged or the commit is
    ///   missing.
    static func layered(
        at folder: String, commit: OID, store: String, base: WorkspaceSource?, user: StepUser?, layering: Layering,
        opened: OverlayMount?
    ) async throws -> Workspace {
        let gitDirectory = "\(folder)/git/.git"
        let tree = Layer(path: "\(folder)/tree", owner: StepUser.daemon.user, group: StepUser.daemon.group)
        let below = base.map { CheckedOut(tree: $0.tree, index: $0.index) }
        let begun = try await withRepository(at: store) { repository -> BegunLayers in
            let holder = try opened ?? open(at: folder, user: user, layering: layering)
            var layers = [tree]
            do {
                let difference = try repository.layerDifference(commit, over: below)
                if let difference { layers = (difference.isEmpty ? [] : [tree]) + (base?.layers ?? []) }
                // It opens the layers while their files are written.
                holder.take([Layer(path: "\(folder)/git", owner: tree.owner, group: tree.group)] + layers)
                let cost = try repository.checkoutCost(commit, writing: difference, limits: .none)
                var begun = BegunLayers(
                    holder: holder, layers: layers, tree: try repository.commit(commit).tree, difference: difference,
                    cost: cost)
                if cost.isSmall {
                    _ = try repository.checkoutLayer(
                        commit, files: tree.path, gitDirectory: gitDirectory, over: below, writing: difference)
                    try begun.finish(tree.path)
                }
                return begun
            } catch {
                holder.close()
                throw error
            }
        }
        if !begun.isMounted {
            do {
                try await CheckoutProcess(
                    commit, of: store,
                    to: .layer(
                        files: tree.path, gitDirectory: gitDirectory, baseTree: below?.tree.hex,
                        baseIndex: below?.index), cost: begun.cost
                ).run()
                try await offThread {
                    var begun = begun
                    try begun.finish(tree.path)
                }
            } catch {
                try? await offThread { begun.holder.close() }
                throw error
            }
        }
        let (owner, difference) = (user ?? .daemon, begun.difference)
        return Workspace(
            folder: folder, holder: begun.holder, tree: begun.tree, isOverBase: difference != nil,
            upper: Layer(path: "\(folder)/upper", owner: owner.user, group: owner.group), layers: begun.layers,
            index: "\(gitDirectory)/index",
            written: difference.map { difference in
                (difference.written + difference.removed.map(\.path)).map { String(decoding: $0, as: UTF8.self) }
            } ?? [])
    }
}

/// A layered workspace whose layers are known.
private struct BegunLayers: Sendable {
    let holder: OverlayMount
    /// Newest first.
    let layers: [Layer]
    /// The tree of the commit.
    let tree: OID
    /// The part of the tree that is written; nil for all.
    let difference: TreeDifference?
    let cost: TreeSize
    private(set) var isMounted = false

    /// After the files are written: marks what is gone, and mounts. Blocks.
    mutating func finish(_ files: String) throws {
        try Whiteouts.put(at: (difference?.removed ?? []).map(\.path), in: files)
        try Whiteouts.empty(difference?.emptied ?? [], in: files)
        try holder.mount()
        isMounted = true
    }

    init(holder: OverlayMount, layers: [Layer], tree: OID, difference: TreeDifference?, cost: TreeSize) {
        (self.holder, self.layers, self.tree, self.difference, self.cost) = (holder, layers, tree, difference, cost)
    }
}

extension OverlayMount {
    /// Takes layers of workspaces.
    package func take(_ layers: [Layer]) {
        take(layers.map { Shown(path: $0.path, owner: StepUser(user: $0.owner, group: $0.group)) })
    }
}
