import Results
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The names and stamps, without contents, of everything in a folder that untrusted code writes to.
///
/// Comparing two scans tells what changed between them: a stamp holds the inode and the change time, which no step can
/// set. The scan follows no link and opens nothing but folders, each relative to its parent's descriptor.
public struct WorkspaceScan: Sendable {
    /// The type of a directory entry, as lstat(2) reports it.
    public enum Kind: Sendable, Equatable { case file, link, other }

    /// A directory entry that is not a folder.
    public struct Entry: Sendable, Equatable {
        /// The entry's type.
        public var kind: Kind
        /// The file's size.
        public var bytes: Int
        /// Whether its owner may execute it.
        public var isExecutable: Bool
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
    }

    /// By path, relative to the folder. Paths are bytes, because Unicode treats two different names as equal.
    public private(set) var entries: [[UInt8]: Entry] = [:]
    /// The paths of all folders, relative to the scanned folder.
    public private(set) var folders: Set<[UInt8]> = []

    /// Why a folder can't be scanned.
    public struct Problem: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Maximum number of entries in all folders together, including nested folders.
    static let mostEntries = 2_000_000
    static let deepest = 120

    /// Scans `folder` except for the `.git` at its top.
    ///
    /// - Parameter enters: Returns whether a folder is scanned; its path is relative.
    /// - Throws: ``Problem`` if a folder can't be read: an unreadable folder must not look like an empty one.
    public init(_ folder: String, enters: (_ path: [UInt8]) -> Bool) throws {
        let top = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard top >= 0 else { throw Self.problem("the workspace can't be opened") }
        var count = 0
        try walk(top, [], depth: 0, &count, enters)
    }

    /// Takes ownership of the descriptor `folder` and closes it.
    private mutating func walk(
        _ folder: Int32, _ prefix: [UInt8], depth: Int, _ count: inout Int, _ enters: ([UInt8]) -> Bool
    ) throws {
        guard let stream = fdopendir(folder) else {
            closeFile(folder)
            throw Self.problem("a folder can't be read")
        }
        defer { closedir(stream) }
        while true {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw Self.problem("a folder can't be read") }
                return
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: UInt8.self, capacity: MemoryLayout.size(ofValue: field.pointee)) { start in
                    var bytes: [UInt8] = []
                    var next = start
                    while next.pointee != 0 {
                        bytes.append(next.pointee)
                        next += 1
                    }
                    return bytes
                }
            }
            if name == [0x2e] || name == [0x2e, 0x2e] || prefix.isEmpty && name == Array(".git".utf8) { continue }
            count += 1
            guard count <= Self.mostEntries else {
                throw Problem(description: "there are more than \(Figures.grouped(Self.mostEntries)) files")
            }
            let path = prefix.isEmpty ? name : prefix + [0x2f] + name
            let text = name.map { CChar(bitPattern: $0) } + [0]
            var info = stat()
            guard fstatat(dirfd(stream), text, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Self.problem("a file can't be examined")
            }
            guard info.st_mode & S_IFMT == S_IFDIR else {
                entries[path] = Entry(info)
                continue
            }
            folders.insert(path)
            guard enters(path) else { continue }
            guard depth < Self.deepest else {
                throw Problem(description: "folders are nested more than \(Self.deepest) deep")
            }
            let next = openat(dirfd(stream), text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw Self.problem("a folder can't be opened") }
            try walk(next, path, depth: depth + 1, &count, enters)
        }
    }

    private static func problem(_ what: String) -> Problem {
        Problem(description: "\(what): \(String(cString: strerror(errno)))")
    }

    /// Copies one regular file out of `folder`. It is safe even if the path was replaced since the scan.
    ///
    /// - Throws: If it is no longer a regular file, is reached through a link, or is larger than `limit` bytes.
    public static func copy(_ path: String, of folder: String, to target: String, atMost limit: Int) throws {
        var limits = FileLimits()
        limits.fileBytes = limit
        _ = try WorkspaceFiles(root: FilePath(folder), limits: limits).copy(path, to: FilePath(target), masker: nil)
    }
}

extension WorkspaceScan.Entry {
    fileprivate init(_ info: stat) {
        kind =
            switch info.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFLNK: .link
            default: .other
            }
        bytes = Int(info.st_size)
        isExecutable = info.st_mode & 0o100 != 0
        inode = UInt64(info.st_ino)
        #if os(Linux)
            (seconds, nanoseconds) = (info.st_ctim.tv_sec, info.st_ctim.tv_nsec)
        #else
            (seconds, nanoseconds) = (info.st_ctimespec.tv_sec, info.st_ctimespec.tv_nsec)
        #endif
    }
}
