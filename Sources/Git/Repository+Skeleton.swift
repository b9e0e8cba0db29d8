internal import CGit
internal import Foundation

extension Repository {
    /// Makes an empty repository with a work tree at `directory`, its `HEAD` detached at `commit`, which borrows the
    /// objects of `stores`.
    ///
    /// On Linux the few files that a repository is made of (gitrepository-layout(5)) are written as they are: libgit2
    /// rewrites its settings four times, tries out the file system, copies a template and flushes `HEAD` to the disk, which
    /// together takes longer than to check out some hundred files. Nothing of it need outlive a power cut.
    static func makeWorkspace(
        at directory: String, borrowing stores: [String], head commit: OID
    ) throws(GitError) -> Repository {
        #if os(Linux)
            do { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) } catch {
                throw problem(directory, error.localizedDescription)
            }
            try makeSkeleton(at: directory + "/.git", borrowing: stores, head: commit)
            return try Repository(opening: directory)
        #else
            let workspace = Repository(owning: try initialise(directory, bare: false))
            // libgit2 reads this file when it first needs an object.
            try writeAlternates(stores, objects: workspace.commonDirectory + "/objects")
            var raw = commit.raw
            try git("git_repository_set_head_detached") { git_repository_set_head_detached(workspace.pointer, &raw) }
            return workspace
        #endif
    }

    /// The files of a repository with a work tree, at `folder`, which may be there, empty.
    ///
    /// Its index tells of files with unchanged size and time that they are unchanged, whatever device and owner they seem to
    /// have: steps see them through an overlay, or are given them by another user.
    static func makeSkeleton(
        at folder: String, borrowing stores: [String], head commit: OID
    ) throws(GitError) {
        let lines = [
            "repositoryformatversion = 0", "filemode = true", "bare = false", "logallrefupdates = true",
            "checkStat = minimal", "trustctime = false",
        ]
        do throws(FileProblem) {
            if mkdir(folder, 0o755) != 0, errno != EEXIST { throw FileProblem(path: folder, code: errno) }
            for part in ["/objects", "/objects/info", "/refs"] { try makeFolder(folder + part) }
            try write("[core]\n" + lines.map { "\t\($0)\n" }.joined(), to: folder + "/config")
            try write(stores.joined(separator: "\n") + "\n", to: folder + "/objects/info/alternates")
            try write(commit.hex + "\n", to: folder + "/HEAD")
        } catch {
            throw problem(folder, "\(error.path): \(String(cString: strerror(error.code)))")
        }
    }

    private static func problem(_ folder: String, _ reason: String) -> GitError {
        GitError(
            call: "git_repository_init", code: .failed,
            message: "\"\(folder)\" could not be written: \(reason). Check its owner and the disk.")
    }

    private static func makeFolder(_ path: String) throws(FileProblem) {
        guard mkdir(path, 0o755) == 0 else { throw FileProblem(path: path, code: errno) }
    }

    private static func write(_ text: String, to path: String) throws(FileProblem) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw FileProblem(path: path, code: errno) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        // A short write is how a disk says that it is full.
        let count = Foundation.write(file, bytes, bytes.count)
        guard count == bytes.count else { throw FileProblem(path: path, code: count < 0 ? errno : ENOSPC) }
    }
}

/// What the system said about a file.
private struct FileProblem: Error {
    let path: String
    let code: Int32
}
