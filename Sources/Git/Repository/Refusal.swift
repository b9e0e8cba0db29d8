import CGit
import Foundation

/// Why pipectl does not work on a repository, and what to do about it.
enum Refusal {
    /// Turns libgit2's reason for not opening `path` into a sentence of ours.
    static func explain(_ error: GitError, at path: String) -> GitError {
        let ownerHint = (error.message ?? "").contains("safe.directory") || (error.message ?? "").contains("not owned")
        // -36; or -3 if no safe.directory is configured, because libgit2 looks for that setting first.
        if error.code == .owner || ownerHint {
            return refuse(
                error.call, .owner,
                "\"\(path)\" does not belong to the user that runs pipectl (\(geteuid())). "
                    + "Run pipectl as its owner, or change its owner: chown -R \(geteuid()) \"\(path)\".")
        }
        if let reason = unsupportedForm(at: path) { return refuse(error.call, .unsupported, reason) }
        if error.code == .notFound {
            let fact = FileManager.default.fileExists(atPath: path) ? "is not a Git repository" : "does not exist"
            return refuse(
                error.call, .notFound,
                "\"\(path)\" \(fact). Give the path of a work tree, its .git folder or a bare repository.")
        }
        return error
    }

    /// Throws for a repository that can be opened, but would fail later.
    static func check(_ repository: Repository, at path: String) throws(GitError) {
        if let reason = unsupportedForm(at: repository.commonDirectory) {
            throw refuse("git_repository_open", .unsupported, reason)
        }
        if git_repository_is_shallow(repository.pointer) == 1 {
            throw refuse(
                "git_repository_open", .unsupported,
                "\"\(path)\" is a shallow clone: history ends where it was cut, so merges cannot be computed. "
                    + "Complete it: git -C \"\(path)\" fetch --unshallow.")
        }
    }

    private static func refuse(_ call: String, _ code: GitError.Code, _ message: String) -> GitError {
        GitError(call: call, code: code, message: message)
    }

    /// Reads the repository's own configuration for unsupported forms; nil if there is none.
    private static func unsupportedForm(at path: String) -> String? {
        let candidates = [path + "/.git/config", path + "/config"]
        guard let file = candidates.first(where: { FileManager.default.fileExists(atPath: $0) }),
            let config = try? Handle(
                "git_config_open_ondisk", free: git_config_free, { git_config_open_ondisk(&$0, file) })
        else { return nil }
        var settings: [String: String] = [:]
        // The callback gets this one value. It can't throw, and always returns 0.
        withUnsafeMutablePointer(to: &settings) { settings in
            _ = git_config_foreach(
                config.pointer,
                { entry, payload in
                    guard let entry, let payload, let name = entry.pointee.name else { return 0 }
                    let value = entry.pointee.value.map { String(cString: $0) } ?? "true"
                    payload.assumingMemoryBound(to: [String: String].self).pointee[String(cString: name)] = value
                    return 0
                }, settings)
        }
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) {
            if let reason = reason(name, value, path) { return reason }
        }
        return nil
    }

    private static func reason(_ name: String, _ value: String, _ path: String) -> String? {
        let recloned = "Clone it again without this option and watch the copy."
        let isPromisor =
            name.hasPrefix("remote.") && (name.hasSuffix(".promisor") || name.hasSuffix(".partialclonefilter"))
        switch name {
        case "extensions.noop", "extensions.worktreeconfig", "extensions.preciousobjects": return nil
        case _ where name == "extensions.partialclone" || isPromisor && value != "false":
            return "\"\(path)\" is a partial clone (\(name)): files are missing that a checkout needs. "
                + "Complete it: git -C \"\(path)\" fetch --refetch --no-filter, then unset \(name)."
        case "extensions.objectformat":
            return value.lowercased() == "sha1"
                ? nil
                : "\"\(path)\" uses the object format \(value); pipectl reads SHA-1 repositories only. "
                    + "Watch a SHA-1 clone of it."
        case "extensions.refstorage":
            return value.lowercased() == "files"
                ? nil
                : "\"\(path)\" stores its refs as \"\(value)\"; pipectl reads files only. "
                    + "Convert it: git -C \"\(path)\" refs migrate --ref-format=files."
        case _ where name.hasPrefix("extensions."):
            return
                "\"\(path)\" needs the Git extension \"\(name.dropFirst(11))\", which pipectl does not know. \(recloned)"
        default: return nil
        }
    }
}
