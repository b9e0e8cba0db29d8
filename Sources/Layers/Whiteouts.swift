import SystemPackage

#if canImport(Glibc)
    import CLinux
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Marks in a layer that hide what the layers below have at the same path: a device with the number 0, or an attribute
/// of a folder (overlayfs.rst).
enum Whiteouts {
    /// Puts one at each of `paths`, bytes with slashes, below our own folder `layer`.
    ///
    /// Missing folders on the way are made; links in the layer are not followed.
    /// - Throws: `Errno`; `.notPermitted` if only root may make such a device (Linux before 5.8).
    static func put(at paths: [[UInt8]], in layer: String) throws {
        try visit(paths, in: layer) { folder, name in
            guard mknodat(folder.rawValue, name, S_IFCHR, 0) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// Makes the folders at `paths`, which the layer has, hide what the layers below have in them.
    ///
    /// - Throws: `Errno`; `.notSupported` if the file system has no such attribute.
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

    /// The attribute of a folder that hides what is below, in a mount that any user may own.
    static let opaque = "user.overlay.opaque"

    /// Whether the kernel began the file as a copy of the one in a layer below.
    static func isCopy(_ file: Int32) -> Bool {
        #if os(Linux)
            fgetxattr(file, "user.overlay.origin", nil, 0) >= 0
        #else
            false
        #endif
    }

    /// Opens the folder of each path, and makes missing folders on the way.
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
