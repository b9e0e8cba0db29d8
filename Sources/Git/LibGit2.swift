import CGit

/// The libgit2 that this process is linked with, set up once.
public enum LibGit2 {
    /// As "1.5.1".
    public static var version: String {
        start()
        var (major, minor, revision): (Int32, Int32, Int32) = (0, 0, 0)
        git_libgit2_version(&major, &minor, &revision)
        return "\(major).\(minor).\(revision)"
    }

    /// What it was built with: some of "threads", "https", "ssh", "nsec".
    public static var features: [String] {
        start()
        let known = [
            (GIT_FEATURE_THREADS, "threads"), (GIT_FEATURE_HTTPS, "https"), (GIT_FEATURE_SSH, "ssh"),
            (GIT_FEATURE_NSEC, "nsec"),
        ]
        let bits = git_libgit2_features()
        return known.compactMap { feature, name in bits & Int32(feature.rawValue) == 0 ? nil : name }
    }

    /// Sets the library up on first use; every later call costs one atomic load.
    ///
    /// libgit2's options are unsynchronised globals, so they are all set here, before any other call of this process.
    static func start() { _ = started }

    /// Reads objects without comparing their bytes with their names, from now on in this whole process.
    ///
    /// For a command of its own that reads what is on this machine and makes nothing of it that others rely on. Call it
    /// first, while no other thread uses this library.
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
        // Written by `git sparse-checkout`; harmless, since no per-worktree setting concerns us.
        _ = cgit_allow_extension("worktreeconfig")
    }()
}
