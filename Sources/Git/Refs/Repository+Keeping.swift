internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Repository {
    /// Keeps `id`, and what it is made of, from `git gc` for as long as a process needs it.
    ///
    /// A ref as any other, but nobody else may move it, and it need not outlive a power cut: it is written without a
    /// lock and without a flush, each of which waits for the disk. What a power cut leaves of one is removed by
    /// ``forgetTorn(under:)``.
    /// - Parameter name: The ref, its parts separated by slashes.
    public func keep(_ id: OID, as name: String) throws(GitError) {
        try write(id, as: name, by: ".lock") { new, path in rename(new, path) }
    }

    /// Adds a ref without a flush, for one who can write it again after a power cut.
    ///
    /// - Throws: `.exists` when there is a loose ref of this name; one that is packed only has to be looked for before.
    public func add(_ id: OID, as name: String) throws(GitError) {
        // Another writer of the same ref must not have the same file.
        try write(id, as: name, by: ".\(UInt64.random(in: .min ... .max)).lock") { new, path in
            defer { unlink(new) }
            return link(new, path)
        }
    }

    private func write(
        _ id: OID, as name: String, by suffix: String, _ move: (_ new: String, _ path: String) -> Int32
    ) throws(GitError) {
        let path = looseFile(of: name)
        // For Git no ref, whatever becomes of it.
        let new = path + suffix
        guard !name.utf8.contains(0) else {
            throw GitError(call: "keep", code: .invalidName, message: "the name of the ref contains a NUL")
        }
        var problem = write(id, to: new)
        if problem == ENOENT {
            try? FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            problem = write(id, to: new)
        }
        // Half an id must not become the ref.
        if problem == 0, move(new, path) != 0 { problem = errno }
        guard problem == 0 else {
            unlink(new)
            throw unkept(name, problem)
        }
    }

    /// The file that ``keep(_:as:)`` writes, whether there is one or not.
    public func looseFile(of name: String) -> String { commonDirectory + "/" + name }

    /// Ends what ``keep(_:as:)`` began; nothing if it is gone. In a run's own store only, whose refs nobody packs.
    public func letGo(of name: String) throws(GitError) {
        guard !name.utf8.contains(0) else { return }
        if unlink(looseFile(of: name)) == 0 || errno == ENOENT { return }
        throw unkept(name, errno)
    }

    /// Removes what a power cut has left of refs that were kept, which would be broken ones for Git.
    ///
    /// - Parameter folder: The folder of refs, without a slash at its end.
    public func forgetTorn(under folder: String) {
        let path = commonDirectory + "/" + folder
        for name in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] {
            var info = stat()
            let isWhole = lstat("\(path)/\(name)", &info) == 0 && info.st_size == 41 && !name.hasSuffix(".lock")
            if !isWhole { unlink("\(path)/\(name)") }
        }
    }

    /// An errno; 0 when it is written.
    private func write(_ id: OID, to path: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return errno }
        defer { close(file) }
        let bytes = Array("\(id.hex)\n".utf8)
        // A short write is how a disk says that it is full.
        let count = Foundation.write(file, bytes, bytes.count)
        return count == bytes.count ? 0 : count < 0 ? errno : ENOSPC
    }

    private func unkept(_ name: String, _ problem: Int32) -> GitError {
        GitError(
            call: "keep", code: problem == EEXIST ? .exists : .failed,
            message: "\(name) of \"\(commonDirectory)\" could not be written: \(String(cString: strerror(problem))). "
                + "Check its owner and the disk.")
    }
}
