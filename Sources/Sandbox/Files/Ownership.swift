import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Changes the owner of a run's folders, when the daemon runs as root and steps don't.
package enum Ownership {
    /// Makes `user` the owner of a folder and everything below it. Of a link the owner is changed, not that of its
    /// target.
    ///
    /// Use it only for folders that nobody else has written to yet, or that nobody can write to any more.
    package static func give(_ folder: String, to user: StepUser) throws {
        try FolderWalk.visit(folder) { parent, name, info in
            // The change time of what belongs to the user already stays.
            if info.st_uid == user.user, info.st_gid == user.group { return }
            guard fchownat(parent, name, user.user, user.group, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Errno(rawValue: errno)
            }
        }
    }

    /// Lets other users enter a folder of ours. Its parents stay closed, so only a process to which it is mounted gets
    /// there.
    package static func open(_ folder: String) throws {
        guard chmod(folder, 0o755) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
    }
}
