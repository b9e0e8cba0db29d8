internal import CGit
internal import Foundation

/// How far a transfer is.
public struct TransferProgress: Sendable, Equatable {
    public var receivedObjects: Int
    public var totalObjects: Int
    public var receivedBytes: Int
}

extension Repository {
    /// Brings refs from `url`, a URL or a path, as `refspecs` say ("+refs/heads/*:refs/remotes/origin/*").
    ///
    /// No remote needs to be configured; tags come only if a refspec names them. `prune` deletes local refs that match
    /// a refspec's right side and are gone at `url`; a right side that covers our own `refs/pipectl/` is refused then
    /// (`.invalidName`). There is no time-out before libgit2 1.7: call this in a process that can be killed.
    public func fetch(
        url: String, refspecs: [String], prune: Bool = false, progress: ((TransferProgress) -> Void)? = nil
    ) throws(GitError) {
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
    }

    /// Sends refs to `url` as `refspecs` say; throws with the server's words for the first ref that it refuses.
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

    /// The URL of a configured remote, as written there; `nil` when there is no such remote.
    public func remoteURL(_ name: String) -> String? {
        var remote: OpaquePointer?
        guard git_remote_lookup(&remote, pointer, name) == 0, let remote else {
            git_error_clear()
            return nil
        }
        defer { git_remote_free(remote) }
        return git_remote_url(remote).map { String(cString: $0) }
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
                    + "Fetch into another namespace, as refs/remotes/origin/*.")
        }
    }
}
