import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes files into a folder that untrusted code may write to at the same time.
///
/// Each path is walked component by component without following links, and each file is made beside its place under a
/// new name and moved there: nothing outside the folder is ever opened for writing.
struct WorkspaceWriter {
    let root: FilePath
    /// Who owns what is made; nil: we do.
    let owner: StepUser?

    /// Writes one file in pieces, over whatever file or link was there.
    ///
    /// - Throws: ``WorkspaceFileProblem``, and what `next` throws; then nothing is at `path` that was not before.
    func put(_ path: String, isExecutable: Bool, _ next: () throws -> [UInt8]?) throws {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.last, parts.allSatisfy({ !["", ".", "..", ".git"].contains($0) }), !path.utf8.contains(0)
        else { throw WorkspaceFileProblem(path: path, reason: "the path leaves the workspace") }
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

    /// Opens the folder of these parts, and makes what is missing of it.
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
                    path: path, reason: "\(part) is no folder: \(String(cString: strerror(code)))")
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
