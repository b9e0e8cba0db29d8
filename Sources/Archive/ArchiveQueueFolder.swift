internal import Results
internal import Store
internal import Foundation

/// Large files of runs that wait for the archive: `RUN/logs/FILE`, beside the index, which has their names.
///
/// Each is a second name of the file that the run left, so nothing is copied.
struct ArchiveQueueFolder: Sendable {
    let folder: String

    /// Where a run's file is.
    func path(_ file: String, of run: RunID) -> String { "\(folder)/\(run)/\(file)" }

    /// Keeps the regular files at `paths` under their names in the run's tree; all are on disk when this returns.
    ///
    /// Repeating it changes nothing. Throws `.diskFull`, `.unreadableFile` or `.unusableArchive`.
    func keep(_ files: [(name: String, path: String)], of run: RunID) throws {
        if files.isEmpty { return }
        var folders: Set<String> = [folder, "\(folder)/\(run)"]
        for (name, path) in files {
            let place = self.path(name, of: run)
            let parent = (place as NSString).deletingLastPathComponent
            if folders.insert(parent).inserted || !FileManager.default.fileExists(atPath: parent) {
                try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            }
            try Self.link(path, to: place)
            try DiskFlush.flush(place)
        }
        // The names, and of each folder its own name in the one above.
        for folder in folders.sorted(by: >) { try DiskFlush.flush(folder) }
        try DiskFlush.flush((folder as NSString).deletingLastPathComponent)
    }

    private static func link(_ path: String, to place: String) throws {
        // An earlier try, or an earlier attempt of the run, may have left one.
        unlink(place)
        if Foundation.link(path, place) == 0 { return }
        let code = errno
        guard code == EPERM || code == EXDEV || code == ENOTSUP || code == EMLINK else {
            throw DiskFlush.failure("keep", path, code)
        }
        // A file system without second names.
        try FileManager.default.copyItem(atPath: path, toPath: place)
    }

    /// Removes what is kept of a run; nothing if it is gone.
    func remove(_ run: RunID) {
        try? FileManager.default.removeItem(atPath: "\(folder)/\(run)")
    }

    /// Removes what is kept of runs that don't wait: a crash came before their transaction, or after their export.
    func removeAll(except waiting: Set<RunID>) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
            if let run = RunID(name), waiting.contains(run) { continue }
            try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
    }
}
