import Crypto
import Foundation
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The settings of the machine that sandboxes show, copied into one folder that is mounted as `/etc`.
///
/// For each mount, bubblewrap reads the whole list of mounts again, so two dozen separate files of `/etc` would slow
/// down every start. An entry that is large, or contains more than files, folders and links, is still mounted from its
/// own place. `passwd` and `group` in the copy are links to the run's files.
public final class SettingsCopy: Sendable {
    struct View: Sendable, Equatable {
        /// The folder to mount as `/etc`.
        var folder: String
        /// Paths to mount over it.
        var mounts: [String]
    }

    /// The limits for copying one entry of `/etc`: its files and folders, and the bytes of a file.
    private static let mostEntries = 64
    private static let mostBytes = 1 << 20
    /// The maximum age of a copy when a sandbox starts.
    private static let age = Duration.seconds(5)

    private let parent: String
    private let paths: [String]
    private let root: String
    private let known = Mutex<(view: View, at: ContinuousClock.Instant)?>(nil)

    /// - Parameter parent: A folder that only this object uses. It removes what an earlier daemon left there.
    public convenience init(in parent: String) throws {
        try self.init(in: parent, paths: SystemFolders.settings, below: "/etc")
    }

    /// - Parameter paths: The paths to show, all below `root`.
    init(in parent: String, paths: [String], below root: String) throws {
        self.parent = parent
        self.paths = paths
        self.root = root
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let current = view()?.folder
        for name in try FileManager.default.contentsOfDirectory(atPath: parent) where "\(parent)/\(name)" != current {
            try FolderRemoval.remove("\(parent)/\(name)")
        }
    }

    /// Updates the copy, so that ``view()`` answers at once for the next seconds.
    package func renew() { _ = view() }

    /// A copy of the machine's current settings; nil if none could be made.
    func view() -> View? {
        known.withLock { known in
            if let known, known.at + Self.age > .now { return known.view }
            guard let view = try? make() else { return nil }
            known = (view, .now)
            return view
        }
    }

    private func make() throws -> View {
        var stamp = SHA256()
        // The version of the layout: a copy of an older layout is not used.
        stamp.update(data: Data("5\0".utf8))
        var (copied, mounts): ([String], [String]) = ([], [])
        for path in paths where access(path, F_OK) == 0 {
            if let facts = Self.facts(path) {
                stamp.update(data: Data("\(path)\0\(facts)\0".utf8))
                copied.append(path)
            } else {
                stamp.update(data: Data("\(path)\0mounted\0".utf8))
                mounts.append(path)
            }
        }
        let name = stamp.finalize().prefix(8).map { String(format: "%02x", $0) }.joined()
        let folder = "\(parent)/\(name)"
        if access(folder, F_OK) != 0 { try write(copied, mounts, to: folder) }
        return View(folder: folder, mounts: mounts)
    }

    private static func facts(_ info: stat) -> String {
        #if os(Linux)
            let time = info.st_mtim
        #else
            let time = info.st_mtimespec
        #endif
        return "\(info.st_ino) \(info.st_size) \(time.tv_sec).\(time.tv_nsec)"
    }

    /// The results of lstat(2) for everything that would be copied; nil if the entry is mounted instead.
    private static func facts(_ path: String) -> String? {
        // An entry that is a link is replaced by its target, which may lie outside of the sandbox.
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        var facts = ""
        var count = 0
        do {
            try FolderWalk.visit(String(cString: real)) { _, name, info in
                count += 1
                guard count <= mostEntries, [S_IFREG, S_IFDIR, S_IFLNK].contains(info.st_mode & S_IFMT),
                    info.st_size <= mostBytes
                else { throw Errno.fileTooLarge }
                facts += "\(String(cString: name)) \(info.st_mode) \(Self.facts(info))\n"
            }
        } catch { return nil }
        return facts
    }

    private func write(_ copied: [String], _ mounts: [String], to folder: String) throws {
        let files = FileManager.default
        let new = "\(parent)/new-\(UInt64.random(in: 0 ... .max))"
        do {
            /// Creates a folder that the steps' user can enter, whatever this process's umask is. Copied folders keep
            /// their modes, so one that the machine closes to others stays closed.
            func makeFolder(_ path: String) throws {
                if access(path, F_OK) != 0 { try makeFolder((path as NSString).deletingLastPathComponent) }
                guard mkdir(path, 0o755) == 0 || errno == EEXIST else { throw Errno(rawValue: errno) }
                if path.count >= new.count, chmod(path, 0o755) != 0 { throw Errno(rawValue: errno) }
            }
            /// The path in the copy for a path of /etc. Creates its folder.
            func place(_ path: String, below root: String) throws -> String {
                let place = new + path.dropFirst(root.count)
                try makeFolder((place as NSString).deletingLastPathComponent)
                return place
            }
            for path in copied { try Self.copy(path, to: place(path, below: root)) }
            // Create the mount points now: nothing can be created in the copy later.
            for path in mounts {
                var isFolder: ObjCBool = false
                _ = files.fileExists(atPath: path, isDirectory: &isFolder)
                let place = try place(path, below: root)
                if isFolder.boolValue {
                    try makeFolder(place)
                } else {
                    try SmallFile.write([], to: place, isForAll: true)
                }
            }
            for (path, target) in Self.links {
                try files.createSymbolicLink(atPath: place(path, below: "/etc"), withDestinationPath: target)
            }
            try Self.flush(new)
        } catch {
            try? FolderRemoval.remove(new)
            throw error
        }
        guard rename(new, folder) == 0 || errno == EEXIST || errno == ENOTEMPTY else {
            let problem = Errno(rawValue: errno)
            try? FolderRemoval.remove(new)
            throw problem
        }
        if access(new, F_OK) == 0 { try? FolderRemoval.remove(new) }
    }

    /// Flushes a folder to the disk. Once it has its final name it counts as complete, so it must be complete after a
    /// power failure as well.
    private static func flush(_ folder: String) throws {
        try FolderWalk.visit(folder) { parent, name, info in
            guard [S_IFREG, S_IFDIR].contains(info.st_mode & S_IFMT) else { return }
            let file = openat(parent, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { throw Errno(rawValue: errno) }
            defer { closeFile(file) }
            guard fsync(file) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// The entries of `/etc` that each run has for itself, and their targets.
    static let links = ["passwd", "group"].map { (path: "/etc/\($0)", target: "\(Sandbox.Place.shown)/\($0)") }

    private static func copy(_ path: String, to place: String) throws {
        guard let real = realpath(path, nil) else { throw Errno(rawValue: errno) }
        defer { free(real) }
        // Links inside it stay links: their targets have the same paths in a sandbox.
        try FileManager.default.copyItem(atPath: String(cString: real), toPath: place)
    }
}
