import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Visits everything below a folder. Each folder is opened relative to its parent's descriptor, so no link is followed
/// and nobody can redirect the walk by moving folders.
package enum FolderWalk {
    /// Maximum depth; each level costs an open descriptor.
    package static let deepest = 256

    /// Calls `visit` for the folder and everything below it, with the parent's descriptor, the name in it and the
    /// result of lstat(2).
    ///
    /// Entries that can't be opened or have been removed meanwhile are skipped.
    ///
    /// - Parameter opensLocked: Whether a folder that this user owns but has locked (mode 000) is unlocked while it is
    ///   read. If it can't be unlocked, `Errno.permissionDenied` is thrown.
    /// - Throws: Errors of `visit`; `Errno.tooManyOpenFiles` and the like if the walk itself fails;
    ///   `Errno.fileNameTooLong` below ``deepest``.
    static func visit(
        _ folder: String, opensLocked: Bool = false,
        _ visit: (_ parent: Int32, _ name: UnsafePointer<CChar>, _ info: stat) throws -> Void
    ) throws {
        var info = stat()
        guard lstat(folder, &info) == 0 else { throw Errno(rawValue: errno) }
        try folder.withCString { try visit(AT_FDCWD, $0, info) }
        guard info.st_mode & S_IFMT == S_IFDIR else { return }
        var file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        if file < 0, errno == EACCES, opensLocked { file = LockedFolder.open(folder, in: AT_FDCWD) }
        guard file >= 0 else { throw Errno(rawValue: errno) }
        let place = Place(device: info.st_dev, depth: 1, opensLocked: opensLocked)
        try walk(file, place, visit)
    }

    private struct Place {
        let device: dev_t
        var depth: Int
        let opensLocked: Bool

        var below: Place { Place(device: device, depth: depth + 1, opensLocked: opensLocked) }
    }

    /// Takes ownership of the descriptor `file` and closes it.
    private static func walk(
        _ file: Int32, _ place: Place, _ visit: (Int32, UnsafePointer<CChar>, stat) throws -> Void
    ) throws {
        guard let listing = fdopendir(file) else {
            let problem = errno
            closeFile(file)
            throw Errno(rawValue: problem)
        }
        defer { closedir(listing) }
        // Without the right to search the folder, nothing can be learned about its entries.
        let shut = place.opensLocked ? LockedFolder(searching: file) : nil
        defer { shut?.shut() }
        while let entry = readdir(listing) {
            try withUnsafePointer(to: &entry.pointee.d_name) { field in
                try field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    name in
                    if name[0] == 46 && (name[1] == 0 || name[1] == 46 && name[2] == 0) { return }
                    var info = stat()
                    guard fstatat(file, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                    try visit(file, name, info)
                    guard info.st_mode & S_IFMT == S_IFDIR, info.st_dev == place.device else { return }
                    guard place.depth < deepest else { throw Errno.fileNameTooLong }
                    var inner = openat(file, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    if inner < 0, errno == EACCES, place.opensLocked {
                        inner = LockedFolder.open(name, in: file)
                        guard inner >= 0 else { throw Errno.permissionDenied }
                    }
                    if inner < 0 {
                        if [EMFILE, ENFILE, ENOMEM].contains(errno) { throw Errno(rawValue: errno) }
                        return
                    }
                    try walk(inner, place.below, visit)
                }
            }
        }
    }
}
