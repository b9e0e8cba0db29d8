import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A workspace into which stored outputs are put.
package protocol OutputTarget {
    /// Writes one file in pieces and replaces any file or link at `path`.
    func put(_ path: String, isExecutable: Bool, _ next: () throws -> [UInt8]?) throws
    /// Creates a link and replaces any file or link at `path`.
    func putLink(_ path: String, to target: String) throws
    /// Creates a folder and its missing parents.
    func makeFolder(_ path: String) throws
    /// Removes stale outputs, and stale folders that are empty afterwards.
    ///
    /// - Parameter kept: Paths that stay.
    func clear(_ stale: StaleOutputs, but kept: Set<String>) throws
}

/// Writes files into a folder that untrusted code may write to at the same time.
///
/// Each path is walked component by component without following links. Each file is written under a temporary name in
/// its target folder and then renamed, so nothing outside the folder is ever opened for writing, or removed.
struct WorkspaceWriter: OutputTarget {
    let root: FilePath
    /// The owner of created files; nil: our own user.
    let owner: StepUser?
    /// Which links may be created.
    var links = OutputLink(readable: [])

    /// Writes one file in pieces and replaces any file or link at `path`.
    ///
    /// - Throws: ``WorkspaceFileProblem``, and any error of `next`; then `path` is unchanged.
    func put(_ path: String, isExecutable: Bool, _ next: () throws -> [UInt8]?) throws {
        let parts = try parts(of: path)
        let name = parts[parts.count - 1]
        let folder = try folder(parts.dropLast(), path)
        defer { close(folder) }
        let temporary = ".pipectl-\(UInt64.random(in: .min ... .max))"
        let file = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw problem(path) }
        defer { close(file) }
        do {
            while let piece = try next() {
                _ = try piece.withUnsafeBytes { try FileDescriptor(rawValue: file).writeAll($0) }
            }
            if let owner, fchown(file, owner.user, owner.group) != 0 { throw problem(path) }
            guard fchmod(file, isExecutable ? 0o755 : 0o644) == 0 else { throw problem(path) }
            guard renameat(folder, temporary, folder, name) == 0 else { throw problem(path) }
        } catch {
            unlinkat(folder, temporary, 0)
            throw error
        }
    }

    /// Creates a link and replaces any file or link at `path`. The link itself is never followed here.
    ///
    /// - Throws: ``WorkspaceFileProblem``; then `path` is unchanged.
    func putLink(_ path: String, to target: String) throws {
        if let reason = links.problem(at: path, to: target) {
            throw WorkspaceFileProblem(path: path, reason: "it \(reason)")
        }
        let parts = try parts(of: path)
        let folder = try folder(parts.dropLast(), path)
        defer { close(folder) }
        let temporary = ".pipectl-\(UInt64.random(in: .min ... .max))"
        guard symlinkat(target, folder, temporary) == 0 else { throw problem(path) }
        let isOwned = owner.map { fchownat(folder, temporary, $0.user, $0.group, AT_SYMLINK_NOFOLLOW) == 0 } ?? true
        guard isOwned, renameat(folder, temporary, folder, parts[parts.count - 1]) == 0 else {
            let failure = problem(path)
            unlinkat(folder, temporary, 0)
            throw failure
        }
    }

    /// Creates a folder and its missing parents.
    func makeFolder(_ path: String) throws { close(try folder(parts(of: path)[...], path)) }

    /// Removes stale outputs, and stale folders that are empty afterwards; tracked files of the repository stay.
    ///
    /// - Parameter kept: Paths that stay.
    /// - Throws: ``WorkspaceFileProblem`` or `Errno` if something can't be removed; some of it may be left then.
    func clear(_ stale: StaleOutputs, but kept: Set<String>) throws {
        var entries = 0
        func visit(_ folder: Int32, _ prefix: String, _ depth: Int) throws {
            try FolderEntries.visit(folder) { name, _ in
                entries += 1
                guard entries <= Self.mostEntries else {
                    throw WorkspaceFileProblem(path: prefix, reason: "its folder has too many files")
                }
                let word = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
                if word == ".git", prefix.isEmpty { return }
                let path = prefix.isEmpty ? word : "\(prefix)/\(word)"
                var info = stat()
                guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                let isStale = !kept.contains(path) && stale.contains(path, changedAt: info.stamp.date)
                guard info.st_mode & S_IFMT == S_IFDIR else {
                    guard isStale else { return }
                    guard unlinkat(folder, name, 0) == 0 || errno == ENOENT else { throw problem(path) }
                    return
                }
                guard stale.places.contains(where: { $0.canMatch(below: path) }) else { return }
                guard depth < FolderWalk.deepest else {
                    throw WorkspaceFileProblem(path: path, reason: "it is too deep")
                }
                let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard next >= 0 else { throw problem(path) }
                try visit(next, path, depth + 1)
                // A folder that is not empty stays.
                if isStale { unlinkat(folder, name, AT_REMOVEDIR) }
            }
        }
        let top = open(root.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard top >= 0 else { throw problem(".") }
        try visit(top, "", 0)
    }

    /// Maximum number of folder entries that are looked at.
    private static let mostEntries = 1_000_000

    private func parts(of path: String) throws -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.allSatisfy({ !["", ".", "..", ".git"].contains($0) }), !path.utf8.contains(0) else {
            throw WorkspaceFileProblem(path: path, reason: "the path leaves the workspace")
        }
        return parts
    }

    /// Opens a folder and creates its missing components.
    private func folder(_ parts: ArraySlice<String>, _ path: String) throws -> Int32 {
        var folder = open(root.string, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard folder >= 0 else { throw problem(path) }
        for part in parts {
            let isNew = mkdirat(folder, part, 0o755) == 0
            let next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            let code = errno
            close(folder)
            guard next >= 0 else {
                throw WorkspaceFileProblem(
                    path: path, reason: "\(part) is not a folder: \(String(cString: strerror(code)))")
            }
            folder = next
            if isNew, let owner { fchown(folder, owner.user, owner.group) }
        }
        return folder
    }

    private func problem(_ path: String) -> WorkspaceFileProblem {
        WorkspaceFileProblem(path: path, reason: String(cString: strerror(errno)))
    }
}
