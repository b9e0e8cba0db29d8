import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Goes through everything below a folder, each folder opened beneath the one before it, so that no link is followed
/// and nobody can lead the walk elsewhere by moving things about.
enum FolderWalk {
    /// Folders in folders; each costs an open descriptor.
    static let deepest = 256

    /// Calls `visit` for the folder itself and all below it, with its parent's descriptor, its name there and what
    /// lstat(2) says.
    ///
    /// What can't be opened or is gone meanwhile is left out.
    /// - Throws: What `visit` throws; `Errno.tooManyOpenFiles` and the like when the walk itself fails;
    ///   `Errno.fileNameTooLong` below ``deepest``.
    static func visit(
        _ folder: String, _ visit: (_ parent: Int32, _ name: UnsafePointer<CChar>, _ info: stat) throws -> Void
    ) throws {
        var info = stat()
        guard lstat(folder, &info) == 0 else { throw Errno(rawValue: errno) }
        try folder.withCString { try visit(AT_FDCWD, $0, info) }
        guard info.st_mode & S_IFMT == S_IFDIR else { return }
        let file = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        try walk(file, device: info.st_dev, depth: 1, visit)
    }

    /// Takes `file` over.
    private static func walk(
        _ file: Int32, device: dev_t, depth: Int, _ visit: (Int32, UnsafePointer<CChar>, stat) throws -> Void
    ) throws {
        guard let listing = fdopendir(file) else {
            let problem = errno
            closeFile(file)
            throw Errno(rawValue: problem)
        }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            try withUnsafePointer(to: &entry.pointee.d_name) { field in
                try field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    name in
                    if name[0] == 46 && (name[1] == 0 || name[1] == 46 && name[2] == 0) { return }
                    var info = stat()
                    guard fstatat(file, name, &info, AT_SYMLINK_NOFOLLOW) == 0 else { return }
                    try visit(file, name, info)
                    guard info.st_mode & S_IFMT == S_IFDIR, info.st_dev == device else { return }
                    guard depth < deepest else { throw Errno.fileNameTooLong }
                    let inner = openat(file, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                    if inner < 0 {
                        if [EMFILE, ENFILE, ENOMEM].contains(errno) { throw Errno(rawValue: errno) }
                        return
                    }
                    try walk(inner, device: device, depth: depth + 1, visit)
                }
            }
        }
    }
}
