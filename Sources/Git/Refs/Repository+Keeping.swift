internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Repository {
    /// Protects `id` and its contents from `git gc` as long as a process needs it.
    ///
    /// It is an ordinary ref, but only this process may move it, and it need not survive a power cut. So it is written
    /// without a lock and without a flush, each of which waits for the disk. ``forgetTorn(under:)`` removes what a
    /// power cut leaves of one.
    ///
    /// - Parameter name: The ref, with its parts separated by slashes.
    public func keep(_ id: OID, as name: String) throws(GitError) {
        let path = looseFile(of: name)
        // Git does not read this file as a ref, even if it remains.
        let new = path + ".lock"
        guard !name.utf8.contains(0) else {
            throw GitError(call: "keep", code: .invalidName, message: "the name of the ref contains a NUL")
        }
        var problem = write(id, to: new)
        if problem == ENOENT {
            try? FileManager.default.createDirectory(
                atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
            problem = write(id, to: new)
        }
        // A partial id must not become the ref.
        if problem == 0, rename(new, path) != 0 { problem = errno }
        guard problem == 0 else {
            unlink(new)
            throw unkept(name, problem)
        }
    }

    /// The path of the file that ``keep(_:as:)`` writes, whether it exists or not.
    func looseFile(of name: String) -> String { commonDirectory + "/" + name }

    /// Removes a ref of ``keep(_:as:)``; does nothing if it does not exist. Only in a run's own repository, whose refs
    /// are never packed.
    public func letGo(of name: String) throws(GitError) {
        guard !name.utf8.contains(0) else { return }
        if unlink(looseFile(of: name)) == 0 || errno == ENOENT { return }
        throw unkept(name, errno)
    }

    /// Removes the remains of kept refs after a power cut, which Git would read as broken refs.
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

    /// Returns 0, or an errno.
    private func write(_ id: OID, to path: String) -> Int32 {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard file >= 0 else { return errno }
        defer { close(file) }
        let bytes = Array("\(id.hex)\n".utf8)
        // A full disk shows itself by a short write.
        let count = Foundation.write(file, bytes, bytes.count)
        return count == bytes.count ? 0 : count < 0 ? errno : ENOSPC
    }

    private func unkept(_ name: String, _ problem: Int32) -> GitError {
        GitError(
            call: "keep", code: .failed,
            message: "\(name) of \"\(commonDirectory)\" could not be written: \(String(cString: strerror(problem))). "
                + "Check its owner and the disk.", systemError: problem)
    }
}
