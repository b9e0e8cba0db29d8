import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A folder of a repository that `init` writes to: the folder itself, never what a link in its place leads to.
struct SeedDestination: ~Copyable {
    private let path: String
    private let descriptor: Int32

    /// Makes the folder where it is missing.
    ///
    /// - Throws: ``SeedObstacle`` where it is a link or no folder, or may not be written.
    init(named name: String, in directory: String) throws {
        path = "\(directory)/\(name)"
        if mkdir(path, 0o777) != 0, errno != EEXIST {
            // The folder above may be missing, too.
            try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.problem(path, errno) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Writes the files, all or none of them; nothing is overwritten, and no link is followed.
    ///
    /// - Parameter seeds: Their paths end with the name in this folder.
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

    /// Writes a file over whatever file or link is there; what a link leads to stays as it is.
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
    /// What the system says; nil where it is a link, which is not followed.
    let reason: String?

    package var description: String {
        guard let reason else {
            return
                "\(path) is a symbolic link, and pipectl does not follow it; replace it by a folder. Nothing was written."
        }
        return "\(path) can't be written: \(reason). Nothing was written."
    }
}
