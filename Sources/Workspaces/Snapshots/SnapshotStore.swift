import StateFiles
import SystemCalls
package import Results
import Store
import Engine
import Foundation
import Git
package import Logging
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The bases of the box: `bases/` of the state folder.
///
/// ```
/// bases/RUN-…/base.json           what it is; written last
///                   layer.json    the same, once only others need its layers
///                   written       what the run's steps wrote
///                   tree          what the box wrote before: the files in which the commit differs from the base below,
///                                 or all of them
///                   index         Git's index of the tree
/// ```
package actor SnapshotStore {
    /// For each workflow and branch.
    static let mostKept = 3
    /// Layers of one base: beyond, the next is built from nothing.
    static let deepest = 16
    private static let record = "base.json"
    private static let oldRecord = "layer.json"

    package nonisolated let folder: String
    /// On disk, of all bases together.
    private let limit: Int
    private let log: Logger
    private var bases: [Snapshot] = []
    /// Bytes on disk by folder, also of bases that are gone and whose layers others need.
    private var sizes: [String: Int] = [:]
    /// Folders to be removed.
    private var trash: [String] = []
    /// By folder name: runs that go on above it now.
    private var uses: [String: Int] = [:]
    /// Folders of bases that were given up and that runs still go on above: what those leave is no base either.
    private var givenUp: Set<String> = []
    /// Runs whose bases are gone and would be as good if they were made again, with the bytes that must be free for that
    /// beyond those that the box keeps free.
    private var lost: [RunID: Int] = [:]
    /// Runs that were to leave a base and that this process carried out: of what earlier ones left, and why it is gone,
    /// nothing is known.
    private var tried: Set<RunID> = []

    /// Takes up what an earlier process left, and removes what no base of it needs.
    ///
    /// - Parameter held: Folders that workspaces of failed runs lie over.
    package init(folder: String, limit: Int, log: Logger, held: [String] = []) {
        self.folder = folder
        self.limit = limit
        self.log = log
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let decoder = JSONDecoder()
        func read(_ name: String, _ record: String) -> Snapshot? {
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)/\(record)")) else {
                return nil
            }
            return try? decoder.decode(Snapshot.self, from: data)
        }
        let found = names.compactMap { name in read(name, SnapshotStore.record).flatMap { $0.folder == name ? $0 : nil }
        }
        .filter { base in
            // A copied state folder has the paths of the other one.
            (base.boot == nil || base.boot == Boot.id) && FileManager.default.fileExists(atPath: base.index)
                && base.layers.allSatisfy {
                    $0.path.hasPrefix(folder + "/") && FileManager.default.fileExists(atPath: $0.path)
                }
        }
        bases = found.sorted { $0.createdAt > $1.createdAt }
        for name in held { uses[name, default: 0] += 1 }
        let kept = SnapshotStore.needed(bases).union(held)
        for name in names {
            if kept.contains(name) {
                sizes[name] = (read(name, SnapshotStore.record) ?? read(name, SnapshotStore.oldRecord))?.bytes ?? 0
            } else if name.hasPrefix(".removed-") {
                trash.append("\(folder)/\(name)")
            } else {
                // Removing takes as long as there are files: not while a daemon starts.
                let path = "\(folder)/.removed-\(UInt64.random(in: 0 ... .max))"
                if rename("\(folder)/\(name)", path) == 0 { trash.append(path) }
            }
        }
    }

    /// Newest first.
    package var all: [Snapshot] { bases }

    /// - Parameter commit: Of the base; nil for any.
    package func has(_ key: SnapshotKey, at commit: String? = nil) -> Bool {
        bases.contains { $0.key == key && commit ?? $0.commit == $0.commit && Self.isUsable($0) }
    }

    /// Files that a run writes must be newer than what was built: after the clock was set back, they would not be.
    private static func isUsable(_ base: Snapshot) -> Bool { base.createdAt <= Date() }

    /// Why ``take(_:plan:leavesBase:difference:)`` found none.
    func whyNone(_ key: SnapshotKey, plan: String?) -> String { ColdReason.text(bases, for: key, plan: plan) }

    /// Takes the base with the smallest difference to `tree`, so that nothing removes it; nil where there is none.
    ///
    /// - Parameter difference: How many entries of the run's tree another tree has otherwise.
    /// - Parameter leavesBase: Whether the run is to leave a base: where that would be too deep or too large it begins from
    ///   nothing.
    func take(
        _ key: SnapshotKey, plan: String? = nil, leavesBase: Bool,
        difference: @Sendable (_ tree: OID) async throws -> Int
    ) async -> SnapshotUse? {
        var best: (base: Snapshot, difference: Int)?
        for base in bases where base.serves(key, plan: plan) && !(leavesBase && isFull(base)) {
            guard Self.isUsable(base) else { continue }
            guard let tree = OID(hex: base.tree), let count = try? await difference(tree) else { continue }
            if count < best?.difference ?? .max { best = (base, count) }
        }
        // Meanwhile another run's end may have removed it.
        guard let best, bases.contains(where: { $0.folder == best.base.folder }) else { return nil }
        for name in SnapshotStore.folders(of: best.base) { uses[name, default: 0] += 1 }
        return SnapshotUse(base: best.base, changedFiles: best.difference)
    }

    /// Whether a base on top of this one would have too many layers, or several that make up half of the limit and could
    /// only go together.
    private func isFull(_ base: Snapshot) -> Bool {
        let folders = SnapshotStore.folders(of: base)
        return base.layers.count >= SnapshotStore.deepest
            || folders.count > 1 && folders.compactMap { sizes[$0] }.reduce(0, +) > limit / 2
    }

    /// Bytes on disk of layers that no base needs any more, and that workspaces of failed runs lie over.
    func bytesHeld(_ names: some Collection<String>) -> Int {
        let needed = SnapshotStore.needed(bases)
        return Set(names).subtracting(needed).compactMap { sizes[$0] }.reduce(0, +)
    }

    /// Notes that a run that is to leave a base begins.
    package func noteTry(_ run: RunID) { tried.insert(run) }

    /// Notes that a run would leave the base another time that it could not leave now.
    ///
    /// - Parameter room: Bytes that must be free for that beyond those that the box keeps free.
    func noteLoss(_ run: RunID, needing room: Int = 0) { lost[run] = room }

    /// Whether the base that a run left, if it did, should be made once more.
    ///
    /// It may be gone for what it was, like one of a branch that was moved back meanwhile; or it was made with other tools.
    /// One that had to go for the others' sake would soon have to again, as would one for which the disk has no room yet;
    /// and a run that left none would leave none again.
    ///
    /// - Parameter room: Bytes that are free beyond those that the box keeps free.
    package func isLost(ofRun run: RunID, tools: String, room: Int) -> Bool {
        if let base = bases.first(where: { $0.run == run }) { return base.key.tools != tools || !Self.isUsable(base) }
        if let needed = lost[run] { return needed <= room }
        return !tried.contains(run)
    }

    /// Keeps these folders, whatever becomes of the bases that they are of, until they are released.
    func hold(_ names: [String]) { for name in names { uses[name, default: 0] += 1 } }

    func giveBack(_ use: SnapshotUse?) async {
        guard let use else { return }
        await release(SnapshotStore.folders(of: use.base))
    }

    package func release(_ names: [String]) async {
        for name in names {
            let left = (uses[name] ?? 1) - 1
            uses[name] = left > 0 ? left : nil
        }
        await sweep()
    }

    /// A new folder for the layers of a base of this run; its own until ``add(_:)``.
    nonisolated func makePlace(for run: QueuedRun) throws -> String {
        let path = "\(folder)/\(run.id)-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    /// Makes a base known whose layers are in place, and removes those for which there is no room beside it.
    ///
    /// - Throws: `GivenUp`, when it lies on one that was given up meanwhile.
    func add(_ base: Snapshot) async throws {
        guard givenUp.isDisjoint(with: SnapshotStore.folders(of: base)) else { throw GivenUp() }
        try write(base)
        bases.insert(base, at: 0)
        await evict()
    }

    private func write(_ base: Snapshot) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(base)
            .write(to: URL(fileURLWithPath: "\(folder)/\(base.folder)/\(SnapshotStore.record)"), options: .atomic)
    }

    /// Has what was added since the last time on the disk, so that it outlives a power cut.
    package func flush() async {
        let added = bases.filter { $0.boot != nil }.map(\.folder)
        guard !added.isEmpty else { return }
        try? await offThread { sync() }
        for index in bases.indices where added.contains(bases[index].folder) {
            bases[index].boot = nil
            try? write(bases[index])
        }
    }

    /// Removes all bases for which `isUnwanted` holds; returns how many.
    @discardableResult
    package func remove(_ comeback: RemakePolicy = .whenMissed, where isUnwanted: (Snapshot) -> Bool) async -> Int {
        let gone = bases.filter(isUnwanted)
        // All that go would come back, and the disk would be as full again.
        let room = 2 * bytes
        bases.removeAll(where: isUnwanted)
        for base in gone {
            switch comeback {
            case .whenMissed: lost[base.run] = 0
            case .whenThereIsRoom: lost[base.run] = room
            case .never: lost[base.run] = nil
            }
        }
        for base in gone { retire(base.folder) }
        await sweep()
        return gone.count
    }

    /// Bytes on disk of all layers that are kept.
    var bytes: Int {
        let needed = SnapshotStore.needed(bases)
        return sizes.filter { needed.contains($0.key) }.values.reduce(0, +)
    }

    /// Removes bases that are wrong, for good: what runs leave that began from any layer of theirs is no base either.
    package func giveUp(where isWrong: (Snapshot) -> Bool) async -> Int {
        givenUp.formUnion(bases.filter(isWrong).flatMap(SnapshotStore.folders))
        return await remove(.never, where: isWrong)
    }

    private func evict() async {
        var kept: [SnapshotKey: Int] = [:]
        var gone: Set<String> = []
        for base in bases {
            sizes[base.folder] = base.bytes
            let others = bases.contains {
                $0.key.isOfSameLine(as: base.key) && $0.key != base.key && $0.createdAt > base.createdAt
                    && Self.isUsable($0)
            }
            kept[base.key, default: 0] += 1
            if others || kept[base.key, default: 0] > SnapshotStore.mostKept {
                gone.insert(base.folder)
                lost[base.run] = 0
            }
        }
        bases.removeAll { gone.contains($0.folder) }
        // The oldest first of those that make room by it, and before others those that the newest of all replaces. That
        // one is kept whatever it takes, or nothing would ever be warm.
        while bytes > limit {
            let removable = bases.indices.dropFirst().filter(makesRoom)
            guard let index = removable.last(where: { bases[$0].key == bases[0].key }) ?? removable.last else { break }
            let last = bases.remove(at: index)
            gone.insert(last.folder)
            log.info(
                "removed the warm workspace of run \(last.run): all warm workspaces together may use \(limit >> 20) MiB"
            )
        }
        for name in gone { retire(name) }
        await sweep()
    }

    /// Whether the base takes any, and no other one lies on its layers.
    private func makesRoom(_ index: Int) -> Bool {
        sizes[bases[index].folder, default: 0] > 0
            && !bases.indices.contains { $0 != index && Self.folders(of: bases[$0]).contains(bases[index].folder) }
    }

    private func retire(_ name: String) {
        rename("\(folder)/\(name)/\(SnapshotStore.record)", "\(folder)/\(name)/\(SnapshotStore.oldRecord)")
    }

    /// Removes what an earlier process left and this one has no room or no use for.
    package func clear() async {
        if limit == 0 { await remove(.never) { _ in true } }
        await evict()
    }

    /// Removes the folders that neither a base nor a run needs.
    private func sweep() async {
        let kept = SnapshotStore.needed(bases).union(uses.keys)
        for (name, _) in sizes where !kept.contains(name) {
            sizes[name] = nil
            let (path, trash) = ("\(folder)/\(name)", "\(folder)/.removed-\(UInt64.random(in: 0 ... .max))")
            if rename(path, trash) == 0 { self.trash.append(trash) }
        }
        givenUp.formIntersection(sizes.keys)
        while let path = trash.popLast() {
            try? await offThread { try FolderRemoval.remove(path) }
        }
    }

    private static func needed(_ bases: [Snapshot]) -> Set<String> { Set(bases.flatMap(folders)) }

    /// The folders that hold a base and its layers.
    private static func folders(of base: Snapshot) -> [String] {
        let layers = base.layers.map { layer in
            ((layer.path as NSString).deletingLastPathComponent as NSString).lastPathComponent
        }
        return Array(Set(layers + [base.folder]))
    }
}

/// When a base that is removed may be made again.
package enum RemakePolicy {
    case whenMissed
    /// When it is missed and the disk has room for twice of what all had taken.
    case whenThereIsRoom
    case never
}

/// A base that runs have missed.
package struct MissedSnapshot: Sendable, Hashable {
    package var key: SnapshotKey
    /// At the tip of the branch.
    package var commit: String
}

/// Why a run leaves no base.
private struct GivenUp: Error, CustomStringConvertible {
    package let description = "the warm workspace that it started from was removed in the meantime"
}

/// A run's hold of a base, until it is given back.
package struct SnapshotUse: Sendable {
    package let base: Snapshot
    /// Entries of the run's tree that the base has otherwise.
    let changedFiles: Int

    var reported: Report.Base { Report.Base(run: base.run, commit: base.commit, changedFiles: changedFiles) }
}
