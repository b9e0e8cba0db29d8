import Engine
import Foundation
import Git

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
    /// - Throws: ``LayerProblem``, `Errno`, or `GitError` when the base's index is damaged or the commit is missing.
    static func layered(
        at folder: String, commit: OID, store: String, base: WorkspaceBase?, user: StepUser?, layering: Layering
    ) async throws -> Workspace {
        try await withRepository(at: store) { repository in
            for name in ["git", "tree", "upper", "work", "merged"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)", withIntermediateDirectories: name == "git")
            }
            let gitDirectory = "\(folder)/git/.git"
            let tree = Layer(path: "\(folder)/tree", owner: StepUser.box.user, group: StepUser.box.group)
            let below = base.map { CheckedOut(tree: $0.tree, index: $0.index) }
            let difference = try repository.layerDifference(commit, over: below)
            var layers = [tree]
            if let difference { layers = (difference.isEmpty ? [] : [tree]) + (base?.layers ?? []) }
            let upper = "\(folder)/upper"
            try Layering.prepare(upper: upper, for: user)
            let shown = [Layer(path: "\(folder)/git", owner: tree.owner, group: tree.group)] + layers
            // It takes the layers up while their files are written.
            let holder = try LayerHolder.prepare(
                stepInit: layering.stepInit, folder: folder,
                layers: shown.map { .init(path: $0.path, owner: StepUser(user: $0.owner, group: $0.group)) },
                user: user)
            let made: LayeredCheckout
            do {
                made = try repository.checkoutLayer(
                    commit, files: tree.path, gitDirectory: gitDirectory, over: below, writing: difference)
                try Whiteouts.put(at: (difference?.removed ?? []).map(\.path), in: tree.path)
                try Whiteouts.empty(difference?.emptied ?? [], in: tree.path)
            } catch {
                holder.close()
                throw error
            }
            try holder.mount()
            let owner = user ?? .box
            return Workspace(
                folder: folder, holder: holder, tree: made.tree, isOverBase: difference != nil,
                upper: Layer(path: upper, owner: owner.user, group: owner.group), layers: layers,
                index: "\(gitDirectory)/index",
                written: difference.map { difference in
                    (difference.written + difference.removed.map(\.path)).map { String(decoding: $0, as: UTF8.self) }
                } ?? [])
        }
    }
}
