import SystemCalls
internal import Foundation

/// What is wrong with pipectl's own files.
public struct StateError: Error, Sendable, Equatable {
    /// What to switch on; open for those that later versions add.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Neither `PIPECTL_HOME` nor a home folder is known.
        public static let noHome = Code(rawValue: "no home")
        /// The folder cannot be made or read.
        public static let unusable = Code(rawValue: "unusable")
        /// It belongs to another user.
        public static let otherOwner = Code(rawValue: "other owner")
        /// Other users can reach it, and it isn't ours to close.
        public static let tooOpen = Code(rawValue: "too open")
        /// Another pipectl works in it.
        public static let locked = Code(rawValue: "locked")
        /// A program that belongs to pipectl is not installed.
        public static let missingProgram = Code(rawValue: "missing program")
    }

    public var code: Code
    /// A sentence for people: what is wrong and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension StateError: CustomStringConvertible {
    public var description: String { message }
}

/// The folder that holds everything pipectl remembers, and the names inside it.
public struct StateFolder: Sendable, Hashable {
    /// Absolute.
    public let path: String
    /// Where a socket goes whose path would be too long inside ``path``.
    private let shortFolder: String

    /// Finds the folder, without touching the disk; `environment` is this process's own by default.
    ///
    /// `PIPECTL_HOME` (a relative one counts from the working directory), else `XDG_STATE_HOME/pipectl` if that is
    /// absolute (XDG Base Directory 0.8), else `~/.local/state/pipectl`, on macOS
    /// `~/Library/Application Support/pipectl`. Throws `noHome`.
    public init(environment: [String: String]? = nil) throws(StateError) {
        let environment = environment ?? ProcessInfo.processInfo.environment
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let home = value("PIPECTL_HOME") {
            path = Self.absolute(home)
        } else if let base = value("XDG_STATE_HOME"), base.hasPrefix("/") {
            path = Self.absolute(base + "/pipectl")
        } else if let home = value("HOME"), home.hasPrefix("/") {
            #if os(macOS)
                path = Self.absolute(home + "/Library/Application Support/pipectl")
            #else
                path = Self.absolute(home + "/.local/state/pipectl")
            #endif
        } else {
            throw StateError(.noHome, "No folder for pipectl's state: HOME is not set. Set PIPECTL_HOME to a folder.")
        }
        let name = Self.hash(path)
        if let runtime = value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/"),
            "\(runtime)/pipectl-\(name)/daemon.sock".utf8.count <= UnixAddress.maximumLength
        {
            shortFolder = "\(runtime)/pipectl-\(name)"
        } else {
            shortFolder = "/tmp/pipectl-\(geteuid())-\(name)"
        }
    }

    /// The database of runs.
    public var index: String { path + "/index.sqlite" }
    /// The Git repository that holds all reports.
    public var archive: String { path + "/archive.git" }
    public var artifacts: String { path + "/artifacts" }
    /// The files of releases.
    public var releases: String { path + "/releases" }
    /// The files that were handed over with tasks, by digest.
    public var taskFiles: String { path + "/tasks" }
    /// Bare copies of remote repositories.
    public var mirrors: String { path + "/mirrors" }
    /// Compiled workflows.
    public var programs: String { path + "/programs" }
    public var workspaces: String { path + "/workspaces" }
    /// Snapshots: finished workspaces of merged code that later runs start from.
    public var snapshots: String { path + "/bases" }
    /// Workspaces that failed runs left for `rerun --failed` and `open`.
    public var retained: String { path + "/kept" }
    /// Caches of steps, by repository and name.
    public var caches: String { path + "/caches" }
    /// What `pipectl landed` read of the repositories that it was last asked about.
    public var landed: String { path + "/landed" }
    /// How long the tests of divided steps took.
    public var testTimes: String { path + "/test-times" }
    /// Logs of running steps.
    public var live: String { path + "/live" }
    /// A copy of the machine's settings that sandboxes show.
    package var settings: String { path + "/settings" }
    /// Deleted when the disk is full: see ``ReservedDiskSpace``.
    package var reserve: String { path + "/ballast" }
    /// The secrets that `pipectl secrets set` keeps; made with the first one.
    public var secrets: String { path + "/secrets" }
    /// The credentials that `pipectl forge connect` keeps, apart from the secrets of steps; made with the first one.
    public var forges: String { path + "/forges" }
    /// The file that ``StateLock`` locks.
    public var lock: String { path + "/lock" }

    /// Creates what is missing, all of it for this user alone (mode 0700).
    ///
    /// An empty folder, or one of ours, that others can reach is closed to them. Throws `otherOwner`, `tooOpen` for a
    /// folder with other things in it, `unusable`.
    public func create() throws(StateError) {
        try Self.privateFolder(path) { entries in
            entries.isEmpty || entries.contains("lock") || entries.contains("index.sqlite")
        }
        for folder in [artifacts, mirrors, programs, workspaces, snapshots, retained, live, caches] {
            try Self.privateFolder(folder) { _ in true }
        }
    }

    // MARK: The socket

    /// Where commands find the daemon.
    ///
    /// `daemon.sock` in the folder. If that is too long for a socket (unix(7): 107 bytes on Linux, 103 on macOS), it is
    /// a link to one in a short folder, so a command finds the daemon whatever `XDG_RUNTIME_DIR` either of them has.
    public var socket: String {
        guard directSocket.utf8.count > UnixAddress.maximumLength else { return directSocket }
        guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: directSocket) else {
            return shortFolder + "/daemon.sock"
        }
        // Only a folder that is ours alone can hold our daemon's socket.
        let isOurs = (try? Self.check((target as NSString).deletingLastPathComponent)) == true
        return isOurs ? target : shortFolder + "/daemon.sock"
    }

    /// Where the daemon is to listen; creates the short folder and the link if they are needed.
    ///
    /// For the owner of the ``StateLock``: throws ``StateError`` if a stranger holds the short folder.
    public func prepareSocket() throws(StateError) -> String {
        guard directSocket.utf8.count > UnixAddress.maximumLength else { return directSocket }
        try Self.privateFolder(shortFolder) { _ in true }
        let target = shortFolder + "/daemon.sock"
        unlink(directSocket)
        guard symlink(target, directSocket) == 0 else {
            throw StateError(
                .unusable, "\(SystemFailure("symlink")) for \"\(directSocket)\". Check the folder's owner.")
        }
        return target
    }

    private var directSocket: String { path + "/daemon.sock" }

    // MARK: Folders

    private static func privateFolder(
        _ folder: String, mayClose: ([String]) -> Bool
    ) throws(StateError) {
        do {
            let parent = (folder as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        } catch {
            throw StateError(
                .unusable, "\"\(folder)\" cannot be made: \(error.localizedDescription). Set PIPECTL_HOME.")
        }
        if mkdir(folder, 0o700) == 0 { return }
        guard errno == EEXIST else {
            throw StateError(.unusable, "\"\(folder)\" cannot be made: \(SystemFailure("mkdir")). Set PIPECTL_HOME.")
        }
        if try check(folder) { return }
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        guard mayClose(entries), chmod(folder, 0o700) == 0 else {
            throw StateError(
                .tooOpen,
                "Other users can reach \"\(folder)\", and it contains files that are not pipectl's. "
                    + "Set PIPECTL_HOME to a folder of its own, or restrict this one: chmod 700 \"\(folder)\".")
        }
    }

    /// Whether `folder` is closed to others; throws unless it is a folder of this user.
    private static func check(_ folder: String) throws(StateError) -> Bool {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            throw StateError(.unusable, "\"\(folder)\" cannot be read: \(SystemFailure("stat")). Set PIPECTL_HOME.")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw StateError(.unusable, "\"\(folder)\" is not a folder. Move it away or set PIPECTL_HOME.")
        }
        guard status.st_uid == geteuid() else {
            throw StateError(
                .otherOwner,
                "\"\(folder)\" belongs to user \(status.st_uid) and pipectl runs as \(geteuid()). "
                    + "Run pipectl as its owner or set PIPECTL_HOME to a folder of your own.")
        }
        return status.st_mode & 0o077 == 0
    }

    private static func absolute(_ path: String) -> String {
        let from = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
        return (from as NSString).standardizingPath
    }

    /// FNV-1a, 64 bit: a short name for a long path. Chance is all it must withstand, the folder's owner is checked.
    private static func hash(_ text: String) -> String {
        let value = text.utf8.reduce(into: 0xcbf2_9ce4_8422_2325 as UInt64) {
            $0 = ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return String(value, radix: 16)
    }
}
