import SystemPackage

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Marks in a layer that hide what the layers below have at the same path: a device of number 0, an attribute of a folder
/// (overlayfs.rst).
enum Whiteouts {
    /// Puts one at each of `paths`, bytes with slashes, below the box's own folder `layer`.
    ///
    /// Folders on the way are made; a link that the layer has there is not followed.
    /// - Throws: `Errno`, as `.notPermitted` where only root may make such a device (Linux before 5.8).
    static func put(at paths: [[UInt8]], in layer: String) throws {
        try visit(paths, in: layer) { folder, name in
            guard mknodat(folder.rawValue, name, S_IFCHR, 0) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Has the folders at `paths`, which the layer has, show nothing of the layers below.
    ///
    /// - Throws: `Errno`, as `.notSupported` where the disk keeps no such attribute.
    static func empty(_ paths: [[UInt8]], in layer: String) throws {
        try visit(paths, in: layer) { folder, name in
            let target = openat(folder.rawValue, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard target >= 0 else { throw Errno(rawValue: errno) }
            defer { close(target) }
            #if os(Linux)
                guard fsetxattr(target, opaque, "y", 1, 0) == 0 else { throw Errno(rawValue: errno) }
            #endif
        }
    }

    /// The attribute of a folder that shows nothing of the layers below, in a mount of which any user may be the owner.
    static let opaque = "user.overlay.opaque"

    /// Whether a file of a layer was begun by the kernel, as a copy of the one below.
    static func isCopy(_ file: Int32) -> Bool {
        #if os(Linux)
            fgetxattr(file, "user.overlay.origin", nil, 0) >= 0
        #else
            false
        #endif
    }

    /// Makes the folders on the way.
    private static func visit(
        _ paths: [[UInt8]], in layer: String, _ body: (_ folder: FileDescriptor, _ name: [CChar]) throws -> Void
    ) throws {
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
            try body(folder, name)
        }
    }
}
