import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Marks in a layer that hide what the layers below have at the same path: a device of number 0 (overlayfs.rst).
enum Whiteouts {
    /// Puts one at each of `paths`, bytes with slashes, below the box's own folder `layer`.
    ///
    /// Folders on the way are made; a link that the layer has there is not followed.
    /// - Throws: `Errno`, as `.notPermitted` where only root may make such a device (Linux before 5.8).
    static func put(at paths: [[UInt8]], in layer: String) throws {
        guard !paths.isEmpty else { return }
        let top = try FileDescriptor.open(layer, .readOnly, options: [.directory, .noFollow, .closeOnExec])
        defer { try? top.close() }
        for path in paths {
            let parts = path.split(separator: 0x2F).map { part in part.map { CChar(bitPattern: $0) } + [0] }
            guard let name = parts.last else { continue }
            var folder = top
            defer { if folder != top { try? folder.close() } }
            for part in parts.dropLast() {
                guard mkdirat(folder.rawValue, part, 0o777) == 0 || errno == EEXIST else {
                    throw Errno(rawValue: errno)
                }
                let next = openat(folder.rawValue, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
                guard next >= 0 else { throw Errno(rawValue: errno) }
                if folder != top { try? folder.close() }
                folder = FileDescriptor(rawValue: next)
            }
            guard mknodat(folder.rawValue, name, S_IFCHR, 0) == 0 else { throw Errno(rawValue: errno) }
        }
    }
}
