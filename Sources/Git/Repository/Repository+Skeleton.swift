internal import CGit
internal import Foundation

extension Repository {
    /// Makes an empty repository with a work tree at `directory`, with its `HEAD` detached at `commit`. It borrows the
    /// objects of `stores`.
    ///
    /// On Linux the few files of a repository (gitrepository-layout(5)) are written directly. libgit2 would rewrite the
    /// settings four times, probe the file system, copy a template and flush `HEAD`, which takes longer than checking
    /// out some hundred files. None of this must survive a power cut.
    static func makeWorkspace(
        at directory: String, borrowing stores: [String], head commit: OID
    ) throws(GitError) -> Repository {
        #if os(Linux)
            do { try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true) } catch {
                throw problem(directory, error.localizedDescription, GitError.systemError(of: error))
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

    /// Writes the files of a repository with a work tree to `folder`, which may exist if it is empty.
    ///
    /// Its settings make Git treat files with unchanged size and time as unchanged, whatever device and owner they seem
    /// to have, because steps see them through an overlay or as another user.
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
            throw problem(folder, "\(error.path): \(String(cString: strerror(error.code)))", error.code)
        }
    }

    private static func problem(_ folder: String, _ reason: String, _ code: Int32? = nil) -> GitError {
        GitError(
            call: "git_repository_init", code: .failed,
            message: "\"\(folder)\" could not be written: \(reason). Check its owner and the disk.",
            systemError: code)
    }

    private static func makeFolder(_ path: String) throws(FileProblem) {
        guard mkdir(path, 0o755) == 0 else { throw FileProblem(path: path, code: errno) }
    }

    private static func write(_ text: String, to path: String) throws(FileProblem) {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard file >= 0 else { throw FileProblem(path: path, code: errno) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        // A full disk shows itself by a short write.
        let count = Foundation.write(file, bytes, bytes.count)
        guard count == bytes.count else { throw FileProblem(path: path, code: count < 0 ? errno : ENOSPC) }
    }
}

/// The system's message about a file.
private struct FileProblem: Error {
    let path: String
    let code: Int32
}
