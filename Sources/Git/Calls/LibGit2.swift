import CGit

/// The libgit2 that this process is linked with. It is set up once.
public enum LibGit2 {
    /// For example "1.5.1".
    public static var version: String {
        start()
        var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
        git_libgit2_version(&major, &minor, &revision)
        return "\(major).\(minor).\(revision)"
    }

    /// The features that it was built with: some of "threads", "https", "ssh", "nsec".
    public static var features: [String] {
        start()
        let known = [
            (GIT_FEATURE_THREADS, "threads"), (GIT_FEATURE_HTTPS, "https"), (GIT_FEATURE_SSH, "ssh"),
            (GIT_FEATURE_NSEC, "nsec"),
        ]
        let bits = git_libgit2_features()
        return known.compactMap { feature, name in bits & Int32(feature.rawValue) == 0 ? nil : name }
    }

    /// Sets the library up on first use. Every later call costs one atomic load.
    ///
    /// libgit2's options are unsynchronised globals, so all are set here, before any other call of this process.
    static func start() { _ = started }

    /// Turns off, for the whole process, the comparison of objects' bytes with their ids.
    ///
    /// For a command that reads what is on this machine and makes nothing that others rely on. Call it first, while no
    /// other thread uses the library.
    public static func trustStoredObjects() {
        start()
        _ = cgit_verify_hashes(0)
    }

    private static let started: Void = {
        git_libgit2_init()
        // The user's and the system's configuration would change checked-out bytes (core.autocrlf) and ignored files.
        for level in [
            GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL,
        ] {
            _ = cgit_set_search_path(level.rawValue, "")
        }
        _ = cgit_enable_fsync_gitdir(1)
        // Written by `git sparse-checkout`. It is harmless, because no per-worktree setting is used here.
        _ = cgit_allow_extension("worktreeconfig")
    }()
}
