#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder whose owner has removed its own permissions, as any process may do to hide content from others of the same
/// user.
struct LockedFolder {
    #if os(Linux)
        /// `O_PATH`, which is hidden from Swift.
        private static let pathOnly: Int32 = 0o1000_0000
    #endif

    private let file: Int32
    private let mode: mode_t

    /// Gives the owner the right to search the folder until ``shut()``; nil if that is not needed or not allowed.
    init?(searching file: Int32) {
        var info = stat()
        guard fstat(file, &info) == 0, info.st_mode & 0o100 == 0, geteuid() != 0,
            fchmod(file, info.st_mode & 0o7777 | 0o500) == 0
        else { return nil }
        (self.file, mode) = (file, info.st_mode & 0o7777)
    }

    func shut() { fchmod(file, mode) }

    /// Opens a folder that its owner may not read, by changing its mode for a moment. Returns a descriptor, or -1 with
    /// errno.
    static func open(_ name: UnsafePointer<CChar>, in parent: Int32) -> Int32 {
        #if os(Linux)
            // The mode is changed on the folder itself, through its descriptor: a link that replaces it is not
            // followed.
            let place = openat(parent, name, pathOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard place >= 0 else { return -1 }
            defer { close(place) }
            var info = stat()
            let path = "/proc/self/fd/\(place)"
            guard fstat(place, &info) == 0, chmod(path, info.st_mode & 0o7777 | 0o500) == 0 else { return -1 }
            defer { chmod(path, info.st_mode & 0o7777) }
            return Glibc.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        #else
            var info = stat()
            guard fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFDIR,
                fchmodat(parent, name, info.st_mode & 0o7777 | 0o500, AT_SYMLINK_NOFOLLOW) == 0
            else { return -1 }
            let file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if file >= 0 { fchmod(file, info.st_mode & 0o7777) }
            return file
        #endif
    }
}
