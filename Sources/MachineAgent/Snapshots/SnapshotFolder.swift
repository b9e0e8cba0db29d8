import Foundation
import Git
import Layers
import MachineProtocol
import Sandbox
import StateFiles

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The snapshots of one workflow and branch on this machine, for all its agents.
///
/// ```
/// snapshots/REPOSITORY/LINE/NAME/snapshot.json   the record; written last
///                                layers.json     the record, once only other snapshots need the layers
///                                lock            held by runs that use the layers, and while they are made
///                                written, tree, index
/// ```
struct SnapshotFolder: Sendable {
    /// The folder with all snapshots of this machine.
    let root: String
    let path: String
    private static let record = "snapshot.json"
    private static let oldRecord = "layers.json"
    /// The most snapshots of one workflow and branch.
    static let mostKept = 3
    /// If less is free on the disk, in bytes, no snapshot is kept.
    static let leastFree = 2 << 30

    /// - Throws: ``MachineProblem`` if a name is none for a folder.
    init(_ place: SnapshotPlace, in root: String) throws {
        guard AttemptOrder.isName(place.repository), AttemptOrder.isName(place.line) else {
            throw MachineProblem.other("snapshots have a name that is no name of a folder")
        }
        self.init(root: root, path: "\(root)/\(place.repository)/\(place.line)")
    }

    private init(root: String, path: String) { (self.root, self.path) = (root, path) }

    /// A snapshot as it is on the disk.
    struct Record: Sendable, Codable {
        var name: String
        /// What the daemon noted.
        var note: Data
        var tree: String
        /// Newest first.
        var layers: [Layer]
        var index: String
        /// Bytes on disk of its own layers.
        var bytes: Int
        var createdAt: Date

        var source: WorkspaceSource? {
            OID(hex: tree).map { WorkspaceSource(layers: layers, tree: $0, index: index) }
        }

        /// The names of the folders with its layers.
        var folders: Set<String> {
            let folders = layers.map { URL(fileURLWithPath: $0.path).deletingLastPathComponent().lastPathComponent }
            return Set(folders + [name])
        }
    }

    /// A snapshot that no agent removes as long as this value lives.
    struct Use: Sendable {
        let record: Record
        fileprivate let locks: [FolderLock]
    }

    /// A folder for a new snapshot, which no other agent removes as long as this value lives.
    struct NewPlace: Sendable {
        let name: String
        let path: String
        fileprivate let lock: FolderLock
    }

    // MARK: Reading

    /// Newest first, without those of a time to come: the clock was set back, and what a run writes would be older than
    /// what was built.
    func records() -> [Record] {
        let now = Date()
        return names().compactMap { read($0, Self.record) }.filter { $0.createdAt <= now }
            .sorted { $0.createdAt > $1.createdAt }
    }

    func infos() -> [KeptSnapshots.Info] {
        let found = records()
        let sizes = Dictionary(uniqueKeysWithValues: names().map { ($0, size(of: $0)) })
        return found.prefix(2 * Self.mostKept).map { record in
            KeptSnapshots.Info(
                name: record.name, note: record.note, layers: record.layers.count,
                bytes: record.folders.reduce(0) { $0 + sizes[$1, default: 0] })
        }
    }

    private func names() -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).filter { !$0.hasPrefix(".") }
    }

    private func size(of name: String) -> Int {
        (read(name, Self.record) ?? read(name, Self.oldRecord))?.bytes ?? 0
    }

    private func read(_ name: String, _ file: String) -> Record? {
        guard let data = FileManager.default.contents(atPath: "\(path)/\(name)/\(file)"),
            let record = try? JSONDecoder().decode(Record.self, from: data), record.name == name,
            // A folder that was copied elsewhere has the paths of the original.
            record.index == "\(path)/\(name)/index", record.layers.allSatisfy({ $0.path.hasPrefix(path + "/") })
        else { return nil }
        return record
    }

    // MARK: Using and keeping

    /// Nil if it is not there any more.
    func use(_ name: String) -> Use? {
        guard AttemptOrder.isName(name) else { return nil }
        // Another agent that looks whether it can be removed has its lock for a moment.
        for _ in 0..<20 {
            guard let found = read(name, Self.record), found.createdAt <= Date() else { return nil }
            if let use = lock(found) { return use }
            usleep(20_000)
        }
        return nil
    }

    private func lock(_ found: Record) -> Use? {
        let name = found.name
        let isWhole = ([found.index] + found.layers.map(\.path)).allSatisfy(FileManager.default.fileExists)
        guard isWhole else {
            retire(name)
            return nil
        }
        var locks: [FolderLock] = []
        for folder in found.folders {
            guard let lock = FolderLock("\(path)/\(folder)/lock", creates: false, isShared: true) else { return nil }
            locks.append(lock)
        }
        // Another agent may have removed it before it was locked.
        guard let record = read(name, Self.record), record.folders == found.folders else { return nil }
        // It counts as used now.
        _ = utimes("\(path)/\(name)/\(Self.record)", nil)
        return Use(record: record, locks: locks)
    }

    func makePlace() throws -> NewPlace {
        for _ in 0..<5 {
            let name = String(UInt64.random(in: .min ... .max), radix: 36)
            let made = "\(path)/\(name)"
            try FileManager.default.createDirectory(
                atPath: made, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o711])
            // Before it is locked, another agent may take it for one that nobody needs.
            if let lock = FolderLock("\(made)/lock", creates: true, isShared: true),
                FileManager.default.fileExists(atPath: "\(made)/lock")
            {
                return NewPlace(name: name, path: made, lock: lock)
            }
        }
        throw AgentProblem("a folder for a snapshot could not be locked in \(path)")
    }

    /// Adds a snapshot whose layers are in place, and removes others if there is no room for all.
    ///
    /// - Parameter limit: Bytes on disk of all snapshots of the machine.
    func add(_ sealed: SealedLayers, tree: OID, note: Data, at place: NewPlace, limit: Int) throws {
        let record = Record(
            name: place.name, note: note, tree: tree.hex, layers: sealed.layers, index: sealed.index,
            bytes: sealed.bytes, createdAt: Date())
        // After a power cut files may be empty and still have their right times, which no build would notice.
        sync()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        try encoder.encode(record).write(to: URL(fileURLWithPath: "\(place.path)/\(Self.record)"), options: .atomic)
        let kept = Set(records().prefix(Self.mostKept).map(\.name)).union([place.name])
        for name in names() where !kept.contains(name) { retire(name) }
        sweep()
        SnapshotFolder.trim(root, to: limit, except: place.name)
        SnapshotFolder.makeRoom(in: root, except: place.name)
    }

    // MARK: Removing

    func remove(_ names: [String]) {
        if names.isEmpty { return }
        for name in names where AttemptOrder.isName(name) { retire(name) }
        sweep()
    }

    private func retire(_ name: String) {
        rename("\(path)/\(name)/\(Self.record)", "\(path)/\(name)/\(Self.oldRecord)")
    }

    /// Removes the folders that neither a snapshot nor a run needs.
    private func sweep() {
        func isNeeded(_ name: String) -> Bool {
            names().contains { read($0, Self.record)?.folders.contains(name) ?? false }
        }
        for name in names() where !isNeeded(name) {
            guard let lock = FolderLock("\(path)/\(name)/lock", creates: true, isShared: false) else { continue }
            // Asked again: whoever builds on it holds the lock until its own record is written.
            if !isNeeded(name) { try? FolderRemoval.remove("\(path)/\(name)") }
            lock.giveBack()
        }
        rmdir(path)
    }

    /// Removes snapshots of a machine, those that were made first, until the others take no more than `limit` bytes.
    ///
    /// - Parameter kept: The name of one that stays.
    static func trim(_ root: String, to limit: Int, except kept: String? = nil) {
        let all = folders(in: root)
        var records = all.flatMap { folder in folder.records().map { (folder: folder, record: $0) } }
            .sorted { $0.record.createdAt > $1.record.createdAt }
        var bytes = all.reduce(0) { $0 + $1.bytes }
        while bytes > limit {
            // The removal of one that others lie on makes no room.
            let index = records.lastIndex { one in
                let name = one.record.name
                return name != kept
                    && !records.contains { $0.record.name != name && $0.record.folders.contains(name) }
            }
            guard let index else { break }
            let oldest = records.remove(at: index)
            oldest.folder.retire(oldest.record.name)
            oldest.folder.sweep()
            // What a run still uses goes with the run: no other one has to go for it.
            bytes -= oldest.record.bytes
        }
    }

    /// Removes snapshots of a machine until they take no more than half of what would be free on its disk without them.
    static func makeRoom(in root: String, except kept: String? = nil) {
        let bytes = folders(in: root).reduce(0) { $0 + $1.bytes }
        guard bytes > 0, let free = DiskSpace.free(at: root), bytes > free else { return }
        trim(root, to: (bytes + free) / 2, except: kept)
    }

    /// Removes the snapshots of a machine that no run has used for `lifetime` seconds.
    static func removeUnused(in root: String, for lifetime: Double) {
        for folder in folders(in: root) {
            let old = folder.records().filter { record in
                let path = "\(folder.path)/\(record.name)/\(SnapshotFolder.record)"
                let used = (try? FileManager.default.attributesOfItem(atPath: path))?[.modificationDate] as? Date
                return used.map { $0.timeIntervalSinceNow < -lifetime } ?? false
            }
            folder.remove(old.map(\.name))
        }
    }

    private var bytes: Int { names().reduce(0) { $0 + size(of: $1) } }

    private static func folders(in root: String) -> [SnapshotFolder] {
        let files = FileManager.default
        return ((try? files.contentsOfDirectory(atPath: root)) ?? []).sorted().flatMap { repository in
            ((try? files.contentsOfDirectory(atPath: "\(root)/\(repository)")) ?? []).sorted().map {
                SnapshotFolder(root: root, path: "\(root)/\(repository)/\($0)")
            }
        }
    }
}
