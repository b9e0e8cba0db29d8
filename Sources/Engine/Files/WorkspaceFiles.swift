import Results
import Masking
import Crypto
import Foundation
import Pipeline
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Limits of what is taken out of a workspace for one step.
public struct FileLimits: Sendable, Equatable {
    /// Maximum number of files.
    public var count = 1_000
    /// Maximum size of one file in bytes.
    public var fileBytes = 2 << 30
    /// Maximum size of all files together in bytes.
    public var totalBytes = 8 << 30
    /// Maximum depth of folders below the workspace.
    public var depth = 32
    /// Maximum number of folder entries that are looked at.
    public var entries = 1_000_000

    public init() {}
}

/// Takes files out of a folder that untrusted code wrote.
///
/// Each path is opened component by component without following links, so nothing outside the workspace is read
/// even when links are exchanged meanwhile; only regular files count, and `.git` is never entered.
struct WorkspaceFiles {
    let root: FilePath
    let limits: FileLimits
    /// Which links are found as if they were files; nil: none.
    var links: OutputLink?

    /// A regular file below the workspace, or a link if links are searched for.
    struct Match: Sendable, Equatable {
        var path: String
        /// The target of a link; nil for a file.
        var target: String?
        var bytes: Int
        var isExecutable: Bool
        var stamp: Stamp
    }

    /// Identifies one version of a file by its inode and change time, which a step can't set, whatever the clock does.
    struct Stamp: Sendable, Equatable {
        var inode: UInt64
        var seconds: Int
        var nanoseconds: Int
        var bytes: Int
        /// When the file's content or mode was last changed.
        var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }

        /// A lower bound for the change time of any file that is changed from now on. Linux stamps files with the time
        /// of its last tick, a few milliseconds ago (clock_gettime(2)).
        static var now: Date {
            #if os(Linux)
                var time = timespec()
                guard clock_gettime(CLOCK_REALTIME_COARSE, &time) == 0 else { return Date() }
                return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
            #else
                return Date()
            #endif
        }
    }

    /// What a search found, and why it may be incomplete.
    struct Search: Sendable {
        var matches: [Match] = []
        /// The paths of empty folders that match, sorted.
        var emptyFolders: [String] = []
        var problems: [String] = []
        /// Whether a limit ended the search.
        var isCut = false
        /// The first folder that could not be searched although it may hold a match.
        var gap: WorkspaceFileProblem?

        /// The number of problems is bounded: a hostile folder may hold a million links.
        mutating func report(_ problem: String) {
            if problems.count < 20 || isCut { problems.append(problem) }
        }
    }

    /// Finds the regular files that at least one of `globs` matches, sorted by path, and the empty folders.
    func matching(_ globs: [Glob]) -> Search {
        var search = Search()
        let top = openRoot()
        guard top >= 0 else {
            let gap = WorkspaceFileProblem(path: ".", of: Errno(rawValue: errno))
            search.gap = gap
            if gap.machineError == nil { search.problems.append("the workspace can't be opened: \(gap.reason)") }
            return search
        }
        var entries = 0
        walk(top, "", 0, globs, &search, &entries)
        search.matches.sort { $0.path < $1.path }
        search.emptyFolders.sort()
        return search
    }

    /// What happens when a file that is copied out holds a secret.
    enum SecretPolicy: Sendable {
        /// The secret is replaced by a mark in the copy.
        case mask
        /// The file is not copied.
        case refuse
    }

    /// Copies a file out and returns the SHA-256 of the copy in lower-case hex, and its size.
    ///
    /// No part of a secret is ever written to the copy, not even for a moment.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if it is no longer the regular file that was found, or if it holds a secret
    ///   and `policy` refuses that.
    func copy(
        _ path: String, to destination: FilePath, masker: Masker? = nil, policy: SecretPolicy = .refuse
    ) throws -> (sha256: String, bytes: Int) {
        // The source is opened before the copy is created, so that a missing file leaves no empty copy behind.
        let source = try openBeneath(path)
        defer { close(source) }
        let target = open(destination.string, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard target >= 0 else {
            let code = Errno(rawValue: errno)
            throw WorkspaceFileProblem(path: path, reason: "\(code)", machineError: code)
        }
        defer { close(target) }
        var digest = SHA256()
        var written = 0
        _ = try read(source, path, masker, policy) { buffer in
            digest.update(bufferPointer: buffer)
            do {
                written += try FileDescriptor(rawValue: target).writeAll(buffer)
            } catch {
                throw WorkspaceFileProblem(
                    path: path, reason: "it can't be copied: \(error)", machineError: error as? Errno ?? .ioError)
            }
        }
        return (digest.finalize().map { String(format: "%02x", $0) }.joined(), written)
    }

    /// Hands over a file's bytes piece by piece, without the secrets in them, and returns how many the file has.
    ///
    /// - Throws: As ``copy(_:to:masker:policy:)``, and what `keep` throws.
    func read(
        _ path: String, masker: Masker? = nil, policy: SecretPolicy, _ keep: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        let source = try openBeneath(path)
        defer { close(source) }
        return try read(source, path, masker, policy, keep)
    }

    private func read(
        _ source: Int32, _ path: String, _ masker: Masker?, _ policy: SecretPolicy,
        _ keep: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Int {
        var masking = masker.map(MaskingStream.init)
        var bytes = 0
        func check() throws {
            guard policy == .refuse, let name = masking?.found else { return }
            throw WorkspaceFileProblem(path: path, reason: "it contains secret \(name)", secret: name)
        }
        var piece = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Foundation.read(source, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw WorkspaceFileProblem(path: path, of: Errno(rawValue: errno)) }
            if count == 0 { break }
            bytes += count
            guard bytes <= limits.fileBytes else {
                throw WorkspaceFileProblem(
                    path: path,
                    reason: "it is larger than \(Figures.grouped(limits.fileBytes)) bytes, the limit for one file")
            }
            try piece.withUnsafeBytes { buffer in
                let buffer = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if masking == nil { try keep(buffer) } else { try masking?.feed(buffer, keep) }
            }
            try check()
        }
        try masking?.flush(keep)
        try check()
        return bytes
    }

    private func openBeneath(_ path: String) throws -> Int32 {
        // The path is split by bytes, as the kernel does it: Swift does not find a slash that a combining character
        // follows.
        let parts = path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        guard let name = parts.last, !parts.contains(".."), !path.hasPrefix("/") else {
            throw WorkspaceFileProblem(path: path, reason: "the path leaves the workspace")
        }
        var folder = openRoot()
        var code = Errno(rawValue: errno)
        for part in parts.dropLast() where folder >= 0 {
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            code = Errno(rawValue: errno)
            close(folder)
            folder = next
        }
        guard folder >= 0 else {
            let problem = WorkspaceFileProblem(path: path, of: code)
            throw problem.machineError != nil
                ? problem : WorkspaceFileProblem(path: path, reason: "its folder is gone or a link")
        }
        defer { close(folder) }
        // O_NONBLOCK: a fifo in its place must not block us.
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            let code = Errno(rawValue: errno)
            if code == .tooManySymbolicLinkLevels { throw WorkspaceFileProblem(path: path, reason: "it is a link") }
            throw WorkspaceFileProblem(path: path, of: code)
        }
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
            close(file)
            throw WorkspaceFileProblem(path: path, reason: "it is not a regular file")
        }
        // The size is checked and not the allocated space: a sparse file costs the step nothing, but us its whole size.
        guard info.st_size <= limits.fileBytes else {
            close(file)
            throw WorkspaceFileProblem(
                path: path,
                reason: "it is larger than \(Figures.grouped(limits.fileBytes)) bytes, the limit for one file")
        }
        return file
    }

    /// The root is not opened through a link: where steps run as our own user, a step can replace the folder by one.
    private func openRoot() -> Int32 { open(root.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }

    /// Takes ownership of `folder` and closes it.
    private func walk(
        _ folder: Int32, _ prefix: String, _ depth: Int, _ globs: [Glob], _ search: inout Search,
        _ entries: inout Int
    ) {
        func gap(_ path: String, _ code: Errno) {
            // A folder that is gone by now leaves no gap.
            if code != .noSuchFileOrDirectory { search.gap = search.gap ?? WorkspaceFileProblem(path: path, of: code) }
        }
        guard let stream = fdopendir(folder) else {
            gap(prefix, Errno(rawValue: errno))
            close(folder)
            return
        }
        defer { closedir(stream) }
        var isEmpty = true
        while !search.isCut {
            errno = 0
            guard let entry = readdir(stream) else {
                if errno != 0 {
                    gap(prefix, Errno(rawValue: errno))
                } else if isEmpty, globs.contains(where: { $0.matches(prefix) }) {
                    search.emptyFolders.append(prefix)
                }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(validatingCString: $0) }
            }
            if name == "." || name == ".." { continue }
            isEmpty = false
            guard let name else {
                search.gap = search.gap ?? WorkspaceFileProblem(path: prefix, reason: "a name in it is not UTF-8")
                continue
            }
            if name == ".git" {
                let path = "\(prefix)/.git"
                if !prefix.isEmpty, globs.contains(where: { $0.canMatch(below: path) }) {
                    search.gap = search.gap ?? WorkspaceFileProblem(path: path, reason: "it belongs to a repository")
                }
                continue
            }
            entries += 1
            guard entries <= limits.entries, search.matches.count + search.emptyFolders.count <= limits.count else {
                search.isCut = true
                search.report(
                    entries > limits.entries
                        ? "more than \(Figures.grouped(limits.entries)) files were checked; use a narrower pattern"
                        : "more than \(Figures.grouped(limits.count)) files match; use a narrower pattern or pack them into one"
                )
                return
            }
            let path = prefix.isEmpty ? name : "\(prefix)/\(name)"
            guard path.utf8.count <= 1_024 else {
                search.gap = search.gap ?? WorkspaceFileProblem(path: prefix, reason: "a path in it is too long")
                continue
            }
            var info = stat()
            guard fstatat(dirfd(stream), name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
                gap(path, Errno(rawValue: errno))
                continue
            }
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                guard globs.contains(where: { $0.canMatch(below: path) }) else { continue }
                guard depth < limits.depth else {
                    search.report("\(path) is more than \(limits.depth) folders deep and was skipped")
                    continue
                }
                let next = openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                if next < 0 { gap(path, Errno(rawValue: errno)) }
                if next >= 0 { walk(next, path, depth + 1, globs, &search, &entries) }
            case S_IFREG:
                guard globs.contains(where: { $0.matches(path) }) else { continue }
                search.matches.append(
                    Match(
                        path: path, bytes: Int(info.st_size), isExecutable: info.st_mode & 0o100 != 0,
                        stamp: info.stamp))
            case S_IFLNK where globs.contains { $0.matches(path) }:
                guard let links, let target = WorkspaceFiles.target(of: name, in: dirfd(stream)) else {
                    search.report("\(path) is a link and was skipped; copy the file itself")
                    continue
                }
                if let problem = links.problem(at: path, to: target) {
                    search.report("\(path) \(problem)")
                    continue
                }
                search.matches.append(
                    Match(
                        path: path, target: target, bytes: target.utf8.count, isExecutable: false, stamp: info.stamp))
            case S_IFLNK where globs.contains { $0.leads(through: path) }:
                search.report("\(path) is a link and was skipped; use the folder itself")
            case S_IFLNK: continue
            default:
                if globs.contains(where: { $0.matches(path) }) {
                    search.report("\(path) is not a regular file and was skipped")
                }
            }
        }
    }
}

/// Why a file could not be taken out of a workspace.
struct WorkspaceFileProblem: Error, Sendable, Equatable, CustomStringConvertible {
    var path: String
    var reason: String
    /// Whether nothing exists at that path.
    var isMissing = false
    /// The name of the secret that the file holds, if that is the reason.
    var secret: String?
    /// The error of the machine's disk or kernel, if the workspace is not to blame.
    var machineError: Errno?
    var description: String { "\(path) can't be collected: \(reason)" }
}

extension WorkspaceFileProblem {
    /// Describes an error of reading the file at `path`.
    init(path: String, of code: Errno) {
        let isOfMachine = [.ioError, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(code)
        self.init(
            path: path, reason: "\(code)", isMissing: code == .noSuchFileOrDirectory,
            machineError: isOfMachine ? code : nil)
    }
}

extension stat {
    var stamp: WorkspaceFiles.Stamp {
        #if os(Linux)
            let time = st_ctim
        #else
            let time = st_ctimespec
        #endif
        return WorkspaceFiles.Stamp(
            inode: UInt64(st_ino), seconds: time.tv_sec, nanoseconds: time.tv_nsec, bytes: Int(st_size))
    }
}
