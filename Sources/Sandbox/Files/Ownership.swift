import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Who owns what a run works in, when the box is root and steps are not.
package enum Ownership {
    /// Gives a folder and everything below it to `user`; links themselves, not what they point at.
    ///
    /// Only for folders that nobody else has written to yet, or that nobody can write to any more.
    package static func give(_ folder: String, to user: StepUser) throws {
        try FolderWalk.visit(folder) { parent, name, _ in
            guard fchownat(parent, name, user.user, user.group, AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Errno(rawValue: errno)
            }
        }
    }

    /// Lets other users into a folder of ours; those above it stay closed, so only who is shown it gets there.
    package static func open(_ folder: String) throws {
        guard chmod(folder, 0o755) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
    }
}
