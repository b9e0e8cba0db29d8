import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Removes folders that untrusted code has filled, whatever their modes and depth. Links are removed and not followed.
///
/// Use it only for folders that nobody writes to any more.
package enum FolderRemoval {
    /// Maximum depth of the recursion; each level costs an open descriptor. Deeper folders are moved up first.
    private static let deepest = 64

    /// Removes a folder; it does nothing if there is none.
    package static func remove(_ folder: String) throws {
        try remove(folder.utf8CString.map { $0 }, in: AT_FDCWD)
    }

    /// - Parameters:
    ///   - name: With its closing zero.
    ///   - parent: A folder's descriptor, which stays the caller's.
    package static func remove(_ name: [CChar], in parent: Int32) throws {
        var info = stat()
        guard fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else {
            if errno == ENOENT { return }
            throw Errno(rawValue: errno)
        }
        guard info.st_mode & S_IFMT == S_IFDIR else {
            guard unlinkat(parent, name, 0) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
            return
        }
        fchmodat(parent, name, 0o700, 0)
        var moved = 0
        var before: Int
        repeat {
            before = moved
            let top = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard top >= 0 else { throw Errno(rawValue: errno) }
            try empty(top, top, depth: 1, &moved)
        } while moved > before
        guard unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
    }

    /// Takes ownership of the descriptor `folder` and closes it.
    private static func empty(_ folder: Int32, _ top: Int32, depth: Int, _ moved: inout Int) throws {
        try FolderEntries.visit(folder) { name, isFolder in
            // Most folders of a run are empty at its end. For others the error differs by system.
            if isFolder, unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT { return }
            if !isFolder {
                if unlinkat(folder, name, 0) == 0 || errno == ENOENT { return }
                let problem = errno
                var info = stat()
                // Some file systems don't tell folders from files in their listings.
                guard fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFDIR else {
                    throw Errno(rawValue: problem)
                }
            }
            fchmodat(folder, name, 0o700, AT_SYMLINK_NOFOLLOW)
            if depth >= deepest {
                let place = ".removed-\(UInt64.random(in: .min ... .max))"
                guard renameat(folder, name, top, place) == 0 else { throw Errno(rawValue: errno) }
                moved += 1
                return
            }
            let inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard inner >= 0 else { throw Errno(rawValue: errno) }
            try empty(inner, top, depth: depth + 1, &moved)
            guard unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw Errno(rawValue: errno) }
        }
    }
}
