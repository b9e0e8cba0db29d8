import SystemCalls
import Engine
import Foundation
import Git
import Sandbox

/// What a layered workspace is made of. In its folder are, all the box's own but for what is in `upper`:
///
/// - `git`: the workspace's `.git` with its index. Shown first, and alone: stepinit marks it so that nothing which a
///   layer below has as `.git` is seen through it. Git writes its files anew beside the old ones, so what steps do to them goes to `upper`, and the
///   index in here stays what the box wrote.
/// - `tree`: of the tested tree's files those that the base has not, or other ones, and marks for those that it has in
///   excess; without a base all files. Nothing is written through folders that a step has filled: what was planted
///   there, be it a link in a folder's place, is hidden by the kernel.
/// - `upper`, `work`: what steps write, and where the kernel prepares it.
/// - `merged`: where all this is mounted, in the namespace of the holder.
extension Workspace {
    /// Makes the folders of a workspace whose layers are not known yet, and starts what will mount it. Blocks.
    ///
    /// - Parameter owned: Those that the box fills.
    /// - Throws: `Errno` or what `FileManager` does.
    static func open(
        at folder: String, owned: [String] = ["git", "tree"], user: StepUser?, layering: Layering
    ) throws -> LayerHolder {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in owned + ["upper", "work", "merged"] {
            try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: false)
        }
        try Layering.prepare(upper: "\(folder)/upper", for: user)
        return try LayerHolder.open(stepInit: layering.stepInit, folder: folder, user: user)
    }

    /// - Parameter opened: What ``open(at:owned:user:layering:)`` returned for `folder` and `user`, if it was called.
    /// - Throws: ``LayerProblem``, `Errno`, or `GitError` when the base's index is damaged or the commit is missing.
    static func layered(
        at folder: String, commit: OID, store: String, base: WorkspaceSource?, user: StepUser?, layering: Layering,
        opened: LayerHolder?
    ) async throws -> Workspace {
        let gitDirectory = "\(folder)/git/.git"
        let tree = Layer(path: "\(folder)/tree", owner: StepUser.box.user, group: StepUser.box.group)
        let below = base.map { CheckedOut(tree: $0.tree, index: $0.index) }
        let begun = try await withRepository(at: store) { repository -> BegunLayers in
            let holder = try opened ?? open(at: folder, user: user, layering: layering)
            var layers = [tree]
            do {
                let difference = try repository.layerDifference(commit, over: below)
                if let difference { layers = (difference.isEmpty ? [] : [tree]) + (base?.layers ?? []) }
                // It takes the layers up while their files are written.
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
        let (owner, difference) = (user ?? .box, begun.difference)
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
    let holder: LayerHolder
    /// Newest first.
    let layers: [Layer]
    /// The commit's.
    let tree: OID
    /// What of it is written; nil for all.
    let difference: TreeDifference?
    let cost: TreeSize
    private(set) var isMounted = false

    /// Once the files are written: marks what is gone, and mounts. Blocks.
    mutating func finish(_ files: String) throws {
        try Whiteouts.put(at: (difference?.removed ?? []).map(\.path), in: files)
        try Whiteouts.empty(difference?.emptied ?? [], in: files)
        try holder.mount()
        isMounted = true
    }

    init(holder: LayerHolder, layers: [Layer], tree: OID, difference: TreeDifference?, cost: TreeSize) {
        (self.holder, self.layers, self.tree, self.difference, self.cost) = (holder, layers, tree, difference, cost)
    }
}

extension LayerHolder {
    /// The same for layers of workspaces.
    func take(_ layers: [Layer]) {
        take(layers.map { Shown(path: $0.path, owner: StepUser(user: $0.owner, group: $0.group)) })
    }
}
