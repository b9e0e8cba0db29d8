internal import CGit
internal import Foundation

/// The progress of a transfer.
public struct TransferProgress: Sendable, Equatable {
    /// Objects that have arrived.
    public var receivedObjects: Int
    /// Objects that the server announced.
    public var totalObjects: Int
    /// Bytes that have arrived.
    public var receivedBytes: Int
}

extension Repository {
    /// Fetches refs from `url`, a URL or a path, according to `refspecs` ("+refs/heads/*:refs/remotes/origin/*").
    ///
    /// No remote needs to be configured. Tags are fetched only if a refspec names them. `prune` deletes local refs that
    /// match the right side of a refspec and no longer exist at `url`; a right side that includes our own
    /// `refs/pipectl/` is refused then (`.invalidName`). libgit2 before 1.7 has no time-outs, so call this in a process
    /// that can be killed.
    ///
    /// - Returns: The full name of the branch that `HEAD` points to at `url`; nil if it is detached, names a branch
    ///   without a commit, or is not told by the server. It is not guessed from equal commits.
    @discardableResult
    public func fetch(
        url: String, refspecs: [String], prune: Bool = false, progress: ((TransferProgress) -> Void)? = nil
    ) throws(GitError) -> String? {
        if prune { try Self.protectOwnRefs(refspecs) }
        let session = RemoteSession(url: url, progress: progress)
        var options = git_fetch_options()
        try git("git_fetch_options_init") { git_fetch_options_init(&options, UInt32(GIT_FETCH_OPTIONS_VERSION)) }
        options.prune = prune ? GIT_FETCH_PRUNE : GIT_FETCH_NO_PRUNE
        options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE
        options.update_fetchhead = 0
        session.install(in: &options.callbacks)
        let remote = try remoteHandle(url)
        try session.run("git_remote_fetch") {
            withStringArray(refspecs) { git_remote_fetch(remote.pointer, $0, &options, "fetch: pipectl") }
        }
        return try Self.head(of: remote.pointer)
    }

    /// The target of a remote's `HEAD`, from the list that it sent when it was connected (git2/remote.h,
    /// `git_remote_ls`).
    private static func head(of remote: OpaquePointer) throws(GitError) -> String? {
        var (heads, count): (UnsafeMutablePointer<UnsafePointer<git_remote_head>?>?, Int) = (nil, 0)
        try git("git_remote_ls") { git_remote_ls(&heads, &count, remote) }
        for index in 0..<count {
            guard let head = heads?[index], let name = head.pointee.name, String(cString: name) == "HEAD" else {
                continue
            }
            return head.pointee.symref_target.flatMap { String(validatingCString: $0) }
        }
        return nil
    }

    /// Points `HEAD` at a ref, which need not exist. If it points there already, nothing is written.
    public func setHead(to ref: String) throws(GitError) {
        guard try symbolicTarget("HEAD") != ref else { return }
        var out: OpaquePointer?
        defer { git_reference_free(out) }
        try git("git_reference_symbolic_create") {
            git_reference_symbolic_create(&out, pointer, "HEAD", ref, 1, nil)
        }
    }

    /// The name of the repository's main branch; nil if there is none, or if it does not exist.
    ///
    /// In a bare repository this is `HEAD`. In a work tree `HEAD` is what somebody checked out, so the `HEAD` of the
    /// clone's origin takes precedence.
    public func mainBranch() throws(GitError) -> String? {
        var candidates: [String] = []
        let origin = "refs/remotes/origin/"
        if !isBare, let target = try symbolicTarget(origin + "HEAD"), target.hasPrefix(origin) {
            candidates.append(String(target.dropFirst(origin.count)))
        }
        if let head = try symbolicTarget("HEAD"), head.hasPrefix("refs/heads/") {
            candidates.append(String(head.dropFirst("refs/heads/".count)))
        }
        for name in candidates where try ref("refs/heads/" + name) != nil { return name }
        return nil
    }

    /// Pushes refs to `url` according to `refspecs`. Throws with the server's message for the first ref that it
    /// refuses.
    public func push(url: String, refspecs: [String]) throws(GitError) {
        let session = RemoteSession(url: url, progress: nil)
        var options = git_push_options()
        try git("git_push_options_init") { git_push_options_init(&options, UInt32(GIT_PUSH_OPTIONS_VERSION)) }
        session.install(in: &options.callbacks)
        let remote = try remoteHandle(url)
        try session.run("git_remote_push") {
            withStringArray(refspecs) { git_remote_push(remote.pointer, $0, &options) }
        }
    }

    /// The URL of a configured remote, as written in the configuration; nil if there is no such remote.
    public func remoteURL(_ name: String) -> String? {
        var remote: OpaquePointer?
        guard git_remote_lookup(&remote, pointer, name) == 0, let remote else {
            git_error_clear()
            return nil
        }
        defer { git_remote_free(remote) }
        return git_remote_url(remote).map { String(cString: $0) }
    }

    /// The URLs of all configured remotes, as written in the configuration: that of `origin` first, the others by name.
    public func remoteURLs() throws(GitError) -> [String] {
        var names = git_strarray()
        try git("git_remote_list") { git_remote_list(&names, pointer) }
        defer { git_strarray_dispose(&names) }
        let all = (0..<names.count).compactMap { names.strings[$0].map { String(cString: $0) } }
        let sorted = all.sorted { ($0 == "origin" ? 0 : 1, $0) < ($1 == "origin" ? 0 : 1, $1) }
        return sorted.compactMap { remoteURL($0) }
    }

    private func remoteHandle(_ url: String) throws(GitError) -> Handle {
        try Handle("git_remote_create_anonymous", free: git_remote_free) {
            git_remote_create_anonymous(&$0, pointer, url)
        }
    }

    private static func protectOwnRefs(_ refspecs: [String]) throws(GitError) {
        let own = "refs/pipectl/"
        for refspec in refspecs {
            guard let colon = refspec.lastIndex(of: ":") else { continue }
            let destination = refspec[refspec.index(after: colon)...]
            let fixed = destination.prefix { $0 != "*" }
            let covers = destination.contains("*") && own.hasPrefix(fixed) || fixed.hasPrefix(own)
            guard covers else { continue }
            throw GitError(
                call: "git_remote_fetch", code: .invalidName,
                message: "Fetching \"\(refspec)\" with prune would delete our own refs under \(own). "
                    + "Fetch into another namespace, such as refs/remotes/origin/*.")
        }
    }
}
