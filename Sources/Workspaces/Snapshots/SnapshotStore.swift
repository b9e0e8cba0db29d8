import Layers
import DaemonLog
import Concurrency
import StateFiles
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

/// The snapshots, in `bases/` of the state folder.
///
/// ```
/// bases/RUN-…/base.json           the record; written last
///                   layer.json    the record, once only the layers are needed, by other snapshots
///                   written       what the steps of the run wrote
///                   tree          what pipectl wrote before: the files in which the commit differs from the snapshot
///                                 below, or all files
///                   index         the Git index of the tree
/// ```
package actor SnapshotStore {
    /// The most snapshots of one workflow and branch.
    static let mostKept = 3
    /// The most layers of one snapshot. A run that would add another one starts in a fresh workspace.
    static let deepest = 16
    private static let record = "base.json"
    private static let oldRecord = "layer.json"

    /// The folder with all snapshots.
    package nonisolated let folder: String
    /// The snapshots of other machines.
    package nonisolated let elsewhere: SnapshotsElsewhere
    /// Bytes on disk, of all snapshots together.
    private let limit: Int
    private let log: Logger
    private var snapshots: [Snapshot] = []
    /// Bytes on disk by folder, including those of removed snapshots whose layers are still needed.
    private var sizes: [String: Int] = [:]
    /// Folders to be removed.
    private var trash: [String] = []
    /// The number of runs that use a folder now.
    private var uses: [String: Int] = [:]
    /// Folders of wrong snapshots that runs still use. A snapshot that such a run would leave is refused.
    private var givenUp: Set<String> = []
    /// Runs whose snapshots are gone and worth making again, with the bytes that must be free for that beyond those
    /// that the daemon keeps free.
    private var lost: [RunID: Int] = [:]
    /// Runs of this process that were to leave a snapshot. Why the snapshot of a run of an earlier process is gone is
    /// not known.
    private var tried: Set<RunID> = []

    /// Reads what an earlier process left, and removes what no snapshot needs.
    ///
    /// - Parameters:
    ///   - record: The file that remembers which snapshots were wrong; nil if they are forgotten with this process.
    ///   - held: Folders that retained workspaces are layered over.
    package init(folder: String, record: String? = nil, limit: Int, log: Logger, held: [String] = []) {
        self.folder = folder
        elsewhere = SnapshotsElsewhere(record: record, log: log)
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
        let records = names.compactMap { name in
            read(name, SnapshotStore.record).flatMap { $0.folder == name ? $0 : nil }
        }
        let found = records.filter { snapshot in
            // The records in a copied state folder have the paths of the original.
            (snapshot.boot == nil || snapshot.boot == Boot.id)
                && FileManager.default.fileExists(atPath: snapshot.index)
                && snapshot.layers.allSatisfy {
                    $0.path.hasPrefix(folder + "/") && FileManager.default.fileExists(atPath: $0.path)
                }
        }
        snapshots = found.sorted { $0.createdAt > $1.createdAt }
        for name in held { uses[name, default: 0] += 1 }
        let kept = SnapshotStore.needed(snapshots).union(held)
        for name in names {
            if kept.contains(name) {
                sizes[name] = (read(name, SnapshotStore.record) ?? read(name, SnapshotStore.oldRecord))?.bytes ?? 0
            } else if name.hasPrefix(".removed-") {
                trash.append("\(folder)/\(name)")
            } else {
                // Removing many files takes long: not while a daemon starts.
                let path = "\(folder)/.removed-\(UInt64.random(in: 0 ... .max))"
                if rename("\(folder)/\(name)", path) == 0 { trash.append(path) }
            }
        }
    }

    /// Newest first.
    package var all: [Snapshot] { snapshots }

    /// - Parameter commit: The commit of the snapshot; nil for any.
    package func has(_ key: SnapshotKey, at commit: String? = nil) -> Bool {
        snapshots.contains { $0.key == key && commit ?? $0.commit == $0.commit && $0.facts.isUsable }
    }

    /// Whether a run with these steps could start from one.
    func serves(_ key: SnapshotKey, plan: String?) -> Bool {
        snapshots.contains { $0.facts.serves(key, plan: plan) && $0.facts.isUsable }
    }

    /// Why ``take(_:plan:leavesBase:difference:)`` found no snapshot.
    func whyNone(_ key: SnapshotKey, plan: String?) -> String {
        ColdReason.text(snapshots.map(\.facts), for: key, plan: plan)
    }

    /// Takes the snapshot with the smallest difference to the run's tree, and protects it until it is given back.
    ///
    /// - Parameters:
    ///   - difference: How many entries of another tree differ from those of the run's tree.
    ///   - leavesBase: Whether the run is to leave a snapshot: then one with too many layers or bytes is not used.
    /// - Returns: Nil if there is no suitable snapshot.
    func take(
        _ key: SnapshotKey, plan: String? = nil, leavesBase: Bool,
        difference: @Sendable (_ tree: OID) async throws -> Int
    ) async -> SnapshotUse? {
        let candidates = snapshots.filter { !(leavesBase && isFull($0)) }
        let best = await candidates.map { ($0, $0.facts) }.nearest(key, plan: plan, difference)
        // Another run may have removed it in the meantime.
        guard let best, snapshots.contains(where: { $0.folder == best.snapshot.folder }) else { return nil }
        for name in SnapshotStore.folders(of: best.snapshot) { uses[name, default: 0] += 1 }
        return SnapshotUse(snapshot: best.snapshot, changedFiles: best.difference)
    }

    /// Whether a snapshot on top of this one would have too many layers, or layers that take half of the limit and can
    /// only be removed together.
    private func isFull(_ snapshot: Snapshot) -> Bool {
        let folders = SnapshotStore.folders(of: snapshot)
        return snapshot.layers.count >= SnapshotStore.deepest
            || folders.count > 1 && folders.compactMap { sizes[$0] }.reduce(0, +) > limit / 2
    }

    /// Bytes on disk of layers that only retained workspaces need.
    func bytesHeld(_ names: some Collection<String>) -> Int {
        let needed = SnapshotStore.needed(snapshots)
        return Set(names).subtracting(needed).compactMap { sizes[$0] }.reduce(0, +)
    }

    /// Notes that a run starts that is to leave a snapshot.
    package func noteTry(_ run: RunID) { tried.insert(run) }

    /// Notes that a run could not leave its snapshot, but could if it were repeated.
    ///
    /// - Parameter room: Bytes that must be free for that beyond those that the daemon keeps free.
    func noteLoss(_ run: RunID, needing room: Int = 0) { lost[run] = room }

    /// Whether the snapshot of a run should be made again.
    ///
    /// Yes if it was removed for a reason that is gone, for example because the branch was moved back in the meantime,
    /// or if it was made with other tools. No if it was removed to make room, because it would soon be removed again;
    /// nor if the disk has no room for it yet, nor if the run never left one.
    ///
    /// - Parameter room: Bytes that are free beyond those that the daemon keeps free.
    package func isLost(ofRun run: RunID, tools: String, room: Int) -> Bool {
        if let snapshot = snapshots.first(where: { $0.run == run }) {
            return snapshot.key.tools != tools || !snapshot.facts.isUsable
        }
        if let needed = lost[run] { return needed <= room }
        return !tried.contains(run)
    }

    /// Keeps these folders until they are released, even if their snapshots are removed.
    func hold(_ names: [String]) { for name in names { uses[name, default: 0] += 1 } }

    func giveBack(_ use: SnapshotUse?) async {
        guard let use else { return }
        await release(SnapshotStore.folders(of: use.snapshot))
    }

    /// Ends one use of each of these folders. A removed snapshot is deleted after its last use.
    package func release(_ names: [String]) async {
        for name in names {
            let left = (uses[name] ?? 1) - 1
            uses[name] = left > 0 ? left : nil
        }
        await sweep()
    }

    /// Makes a folder for the layers of a snapshot of this run. It belongs to the caller until ``add(_:)``.
    nonisolated func makePlace(for run: QueuedRun) throws -> String {
        let path = "\(folder)/\(run.id)-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        return path
    }

    /// Adds a snapshot whose layers are in place, and removes others if there is no room for all.
    ///
    /// - Throws: ``GivenUp`` if it is built on a snapshot that was given up in the meantime.
    func add(_ snapshot: Snapshot) async throws {
        guard givenUp.isDisjoint(with: SnapshotStore.folders(of: snapshot)) else { throw GivenUp() }
        try write(snapshot)
        snapshots.insert(snapshot, at: 0)
        await evict()
    }

    private func write(_ snapshot: Snapshot) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(snapshot)
            .write(to: URL(fileURLWithPath: "\(folder)/\(snapshot.folder)/\(SnapshotStore.record)"), options: .atomic)
    }

    /// Flushes new snapshots to the disk, so that they survive a power cut.
    package func flush() async {
        let added = snapshots.filter { $0.boot != nil }.map(\.folder)
        guard !added.isEmpty else { return }
        try? await offThread { sync() }
        for index in snapshots.indices where added.contains(snapshots[index].folder) {
            snapshots[index].boot = nil
            try? write(snapshots[index])
        }
    }

    /// Removes the snapshots for which `isUnwanted` returns true, and returns their number.
    @discardableResult
    package func remove(_ comeback: RemakePolicy = .whenMissed, where isUnwanted: (Snapshot) -> Bool) async -> Int {
        let gone = snapshots.filter(isUnwanted)
        // If all removed snapshots came back, the disk would be as full again.
        let room = 2 * bytes
        snapshots.removeAll(where: isUnwanted)
        for snapshot in gone {
            switch comeback {
            case .whenMissed: lost[snapshot.run] = 0
            case .whenThereIsRoom: lost[snapshot.run] = room
            case .never: lost[snapshot.run] = nil
            }
        }
        for snapshot in gone { retire(snapshot.folder) }
        await sweep()
        return gone.count
    }

    /// Bytes on disk of all layers.
    var bytes: Int {
        let needed = SnapshotStore.needed(snapshots)
        return sizes.filter { needed.contains($0.key) }.values.reduce(0, +)
    }

    /// Removes the snapshots of a line for good, because they are wrong, and refuses the snapshots of runs that started
    /// from any of their layers. Those of other machines are used no more.
    ///
    /// - Parameter run: The run that has found it: those of earlier runs are wrong.
    /// - Returns: How many are known.
    package func giveUp(_ line: SnapshotLine, until run: RunID) async -> Int {
        let others = elsewhere.giveUp(line, until: run)
        givenUp.formUnion(snapshots.filter { $0.key.line == line }.flatMap(SnapshotStore.folders))
        return await remove(.never) { $0.key.line == line } + others
    }

    private func evict() async {
        var kept: [SnapshotKey: Int] = [:]
        var gone: Set<String> = []
        for snapshot in snapshots {
            sizes[snapshot.folder] = snapshot.bytes
            let others = snapshots.contains {
                $0.key.isOfSameLine(as: snapshot.key) && $0.key != snapshot.key && $0.createdAt > snapshot.createdAt
                    && $0.facts.isUsable
            }
            kept[snapshot.key, default: 0] += 1
            if others || kept[snapshot.key, default: 0] > SnapshotStore.mostKept {
                gone.insert(snapshot.folder)
                lost[snapshot.run] = 0
            }
        }
        snapshots.removeAll { gone.contains($0.folder) }
        // Of those whose removal makes room the oldest first, and before all others those that the newest one replaces.
        // The newest one stays whatever it takes: otherwise no run would ever start warm.
        while bytes > limit {
            let removable = snapshots.indices.dropFirst().filter(makesRoom)
            guard let index = removable.last(where: { snapshots[$0].key == snapshots[0].key }) ?? removable.last else {
                break
            }
            let last = snapshots.remove(at: index)
            gone.insert(last.folder)
            log.info(
                "removed the warm workspace of run \(last.run): all warm workspaces together may use \(limit >> 20) MiB",
                metadata: .code(.snapshotsRemoved, run: last.run)
            )
        }
        for name in gone { retire(name) }
        await sweep()
    }

    /// Whether the snapshot takes space, and no other one is built on its layers.
    private func makesRoom(_ index: Int) -> Bool {
        sizes[snapshots[index].folder, default: 0] > 0
            && !snapshots.indices.contains {
                $0 != index && Self.folders(of: snapshots[$0]).contains(snapshots[index].folder)
            }
    }

    private func retire(_ name: String) {
        rename("\(folder)/\(name)/\(SnapshotStore.record)", "\(folder)/\(name)/\(SnapshotStore.oldRecord)")
    }

    /// Removes what an earlier process left and this one has no room for.
    package func clear() async {
        if limit == 0 { await remove(.never) { _ in true } }
        await evict()
    }

    /// Removes the folders that neither a snapshot nor a run needs.
    private func sweep() async {
        let kept = SnapshotStore.needed(snapshots).union(uses.keys)
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

    private static func needed(_ snapshots: [Snapshot]) -> Set<String> { Set(snapshots.flatMap(folders)) }

    /// The folders of a snapshot and of its layers.
    private static func folders(of snapshot: Snapshot) -> [String] {
        let layers = snapshot.layers.map { layer in
            ((layer.path as NSString).deletingLastPathComponent as NSString).lastPathComponent
        }
        return Array(Set(layers + [snapshot.folder]))
    }
}

/// When a removed snapshot may be made again.
package enum RemakePolicy {
    case whenMissed
    /// When it is missed and the disk has twice the room that all removed ones took.
    case whenThereIsRoom
    case never
}

/// A snapshot that a run could have used.
package struct MissedSnapshot: Sendable, Hashable {
    /// Which runs miss it.
    package var key: SnapshotKey
    /// The tip of the branch.
    package var commit: String
    /// The machine that lacks it; nil for the daemon's.
    package var machine: String?
}

/// A snapshot is refused because it is built on one that was given up.
private struct GivenUp: Error, CustomStringConvertible {
    package let description = "the warm workspace that it started from was removed in the meantime"
}

/// The use of a snapshot by a run, until it is given back.
package struct SnapshotUse: Sendable {
    package let snapshot: Snapshot
    /// How many entries of the run's tree differ from those of the snapshot.
    let changedFiles: Int

    var reported: Report.Base { Report.Base(run: snapshot.run, commit: snapshot.commit, changedFiles: changedFiles) }
}
