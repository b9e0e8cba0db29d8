import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A folder of a repository that `init` writes to. It is never the target of a link in its place.
struct SeedDestination: ~Copyable {
    private let path: String
    private let descriptor: Int32

    /// Creates the folder if it is missing.
    ///
    /// - Throws: ``SeedObstacle`` if it is a link or not a folder, or can't be written.
    init(named name: String, in directory: String) throws {
        path = "\(directory)/\(name)"
        if mkdir(path, 0o777) != 0, errno != EEXIST {
            // The parent folder may be missing as well.
            try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path, errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes the files, all or none of them. Nothing is overwritten, and no link is followed.
    ///
    /// - Parameter seeds: The files; the last component of each path is its name in this folder.
    func write(_ seeds: [SeedFile]) throws {
        var written: [String] = []
        do {
            for seed in seeds {
                let name = URL(fileURLWithPath: seed.path).lastPathComponent
                let file = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o666)
                guard file >= 0 else { throw Self.problem("\(path)/\(name)", errno) }
                written.append(name)
                let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
                try handle.write(contentsOf: Data(seed.text.utf8))
                try handle.close()
            }
        } catch {
            for name in written { unlinkat(descriptor, name, 0) }
            throw error
        }
    }

    /// Replaces a file or link. The target of a link stays unchanged.
    func replace(_ name: String, with text: String) throws {
        unlinkat(descriptor, name, 0)
        try write([SeedFile(path: name, text: text)])
    }

    private static func problem(_ path: String, _ number: Int32) -> SeedObstacle {
        var link = stat()
        let isLink = lstat(path, &link) == 0 && link.st_mode & S_IFMT == S_IFLNK
        return SeedObstacle(path: path, reason: isLink ? nil : String(cString: strerror(number)))
    }
}

/// A file or folder that `init` can't write.
package struct SeedObstacle: Error, Sendable, Equatable, CustomStringConvertible {
    let path: String
    /// The system's error; nil if the path is a link, which is not followed.
    let reason: String?

    package var description: String {
        guard let reason else {
            return
                "\(path) is a symbolic link, and pipectl does not follow it; replace it by a folder. Nothing was written."
        }
        return "\(path) can't be written: \(reason). Nothing was written."
    }
}
