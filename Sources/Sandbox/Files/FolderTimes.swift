import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Corrects the times of files that untrusted code wrote.
package enum FolderTimes {
    /// Sets the modification time of everything in a folder, and of the folder, to now if it lies in the future.
    ///
    /// - Throws: `Errno`; `.fileNameTooLong` if folders are nested too deep.
    package static func endFuture(of folder: String) throws {
        var now = timespec()
        guard clock_gettime(CLOCK_REALTIME, &now) == 0 else { throw Errno(rawValue: errno) }
        try FolderWalk.visit(folder) { parent, name, info in
            #if os(Linux)
                let (accessed, modified) = (info.st_atim, info.st_mtim)
            #else
                let (accessed, modified) = (info.st_atimespec, info.st_mtimespec)
            #endif
            guard (modified.tv_sec, modified.tv_nsec) > (now.tv_sec, now.tv_nsec) else { return }
            guard utimensat(parent, name, [accessed, now], AT_SYMLINK_NOFOLLOW) == 0 else {
                throw Errno(rawValue: errno)
            }
        }
    }
}
