import Layers
import DaemonLog
import Concurrency
import StateFiles
import SystemCalls
import Results
import Engine
import Foundation
package import Logging
import Sandbox

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The workspaces of failed runs, in `kept/` of the state folder, which only the user of the daemon can enter.
///
/// ```
/// kept/RUN-ATTEMPT/kept.json    the record; written last
///                  workspace    the run's workspace, or its layers
///                  home, tmp, values
///                  lock         locked while somebody looks into it
/// ```
package actor RetainedWorkspaceStore {
    private let folder: String
    private let lifetime: Duration
    /// Bytes on disk, of all together.
    private let limit: Int
    private let log: Logger
    private let snapshots: SnapshotStore
    /// Newest first.
    private var workspaces: [RetainedWorkspace]
    /// The number of runs that use a folder now.
    private var uses: [String: Int] = [:]
    /// The snapshot folders that each folder needs, until it is removed.
    private var holds: [String: [String]]
    private var isSweeping = false

    package init(
        folder: String, lifetime: Duration, limit: Int, found: [RetainedWorkspace], snapshots: SnapshotStore,
        log: Logger
    ) {
        self.folder = folder
        self.lifetime = lifetime
        self.limit = limit
        self.log = log
        self.snapshots = snapshots
        workspaces = found.sorted { $0.createdAt > $1.createdAt }
        holds = Dictionary(uniqueKeysWithValues: found.map { ($0.folder, $0.folders(below: snapshots.folder)) })
    }

    /// The complete workspaces that an earlier process left.
    package static func find(in folder: String, snapshots: String) -> [RetainedWorkspace] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.compactMap { name in
            guard let one = try? read(name, in: folder), one.folder == name, one.boot == Boot.id,
                (0..<WorkspaceMeter.uncounted).contains(one.bytes)
            else { return nil }
            // The records in a copied state folder have the paths of the original.
            let isWhole = one.layers.allSatisfy { layer in
                (layer.path.hasPrefix(folder + "/") || layer.path.hasPrefix(snapshots + "/"))
                    && FileManager.default.fileExists(atPath: layer.path)
            }
            return isWhole ? one : nil
        }
    }

    static func read(_ name: String, in folder: String) throws -> RetainedWorkspace {
        let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)/\(RetainedWorkspace.record)"))
        return try JSONDecoder().decode(RetainedWorkspace.self, from: data)
    }

    package var all: [RetainedWorkspace] { workspaces }

    /// Takes the workspace of a run and protects it until ``giveBack(_:)``; nil if there is none.
    func take(_ run: RunID) -> RetainedWorkspace? {
        guard let one = workspaces.first(where: { $0.run == run }), !isOverdue(one) else { return nil }
        uses[one.folder, default: 0] += 1
        return one
    }

    func giveBack(_ one: RetainedWorkspace?) async {
        guard let one else { return }
        let left = (uses[one.folder] ?? 1) - 1
        uses[one.folder] = left > 0 ? left : nil
        await sweep()
    }

    /// Adds a workspace, and removes others if there is no room for all.
    ///
    /// - Parameter filling: The folder with all of it, which is moved to its place now.
    func add(_ one: RetainedWorkspace, from filling: String) async throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(one)
            .write(to: URL(fileURLWithPath: "\(filling)/\(RetainedWorkspace.record)"), options: .atomic)
        guard rename(filling, "\(folder)/\(one.folder)") == 0 else { throw SystemFailure("rename") }
        // At once: otherwise a sweep would remove a folder that it does not know.
        workspaces.insert(one, at: 0)
        let held = one.folders(below: snapshots.folder)
        holds[one.folder] = held
        await snapshots.hold(held)
        await evict()
        await sweep()
    }

    /// Removes the oldest while all together, with the layers that only they need, take more than the limit.
    private func evict() async {
        while !workspaces.isEmpty {
            let (folders, own) = (workspaces.map(\.folder), workspaces.reduce(0) { $0 + $1.bytes })
            let held = await snapshots.bytesHeld(folders.flatMap { holds[$0] ?? [] })
            // Others may have been added or removed in the meantime.
            guard folders == workspaces.map(\.folder) else { continue }
            guard own + held > limit, let last = workspaces.popLast() else { return }
            log.info(
                "removed the retained workspace of run \(last.run): all together may use \(limit >> 20) MiB",
                metadata: .code(.retainedRemoved, run: last.run))
        }
    }

    /// Removes what an earlier process left half-filled, and what has expired.
    package func clear() async {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(RetainedWorkspaceStore.unfinished) {
            let path = "\(folder)/\(name)"
            try? await offThread { try FolderRemoval.remove(path) }
        }
        workspaces.removeAll(where: isOverdue)
        await sweep()
    }

    /// Removes what has expired, or has no room any more because the snapshots below it are gone.
    package func expire() async {
        let count = workspaces.count
        workspaces.removeAll(where: isOverdue)
        await evict()
        if workspaces.count < count { await sweep() }
    }

    /// Removes all that nobody uses now, and returns their number.
    package func removeAll() async -> Int {
        let count = workspaces.count
        workspaces = []
        await sweep()
        return count
    }

    private func isOverdue(_ one: RetainedWorkspace) -> Bool {
        let age = Duration.seconds(Date().timeIntervalSince(one.createdAt))
        // A date in the future means that the clock was set back.
        return age >= lifetime || age < .seconds(-3_600)
    }

    /// Removes the folders that nothing needs, and releases the snapshots below them.
    func sweep() async {
        // Another call may come while a large folder is removed; the next sweep does the rest.
        guard !isSweeping else { return }
        isSweeping = true
        defer { isSweeping = false }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var needed = Set(workspaces.flatMap { $0.folders(below: folder) + [$0.folder] })
        // What a person has open, in any process, may lie over other folders, too.
        for name in Set(uses.keys).union(names.filter { RetainedWorkspaceLock.isHeld("\(folder)/\($0)") }) {
            needed.insert(name)
            if let one = try? RetainedWorkspaceStore.read(name, in: folder) {
                needed.formUnion(one.folders(below: folder))
            }
        }
        for name in names where !needed.contains(name) && !name.hasPrefix(RetainedWorkspaceStore.unfinished) {
            let path = "\(folder)/\(name)"
            // Somebody may have opened it in the meantime.
            guard !RetainedWorkspaceLock.isHeld(path) else { continue }
            try? await offThread { try FolderRemoval.remove(path) }
            if let held = holds.removeValue(forKey: name) { await snapshots.release(held) }
        }
    }

    /// The prefix of the names of folders that are still being filled.
    static let unfinished = ".filling-"
}

extension RetainedWorkspace {
    /// The names of the folders below `parent` that have its layers.
    package func folders(below parent: String) -> [String] {
        let names = layers.compactMap { layer -> String? in
            guard layer.path.hasPrefix(parent + "/") else { return nil }
            return layer.path.dropFirst(parent.count + 1).split(separator: "/").first.map(String.init)
        }
        return Array(Set(names))
    }
}

/// Keeps a folder from being removed while a person works in it, in this process or another.
final class RetainedWorkspaceLock: Sendable {
    private let file: Int32

    /// - Throws: ``SystemFailure`` if the folder is gone.
    init(_ folder: String) throws {
        file = open("\(folder)/lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw SystemFailure("open") }
        guard flock(file, LOCK_SH) == 0 else {
            close(file)
            throw SystemFailure("flock")
        }
    }

    /// Call it once.
    package func release() { close(file) }

    static func isHeld(_ folder: String) -> Bool {
        let file = open("\(folder)/lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else { return false }
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) != 0
    }
}
