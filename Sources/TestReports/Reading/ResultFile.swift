#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One open regular file, which is read from its start to its end or to a limit.
struct ResultFile: ~Copyable {
    private let descriptor: Int32
    private let name: String

    private init(descriptor: Int32, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Opens `path`. It does not follow a last component that is a link, and does not wait for the writer of a pipe.
    static func open(_ path: String, named name: String) throws(TestResultFileError) -> ResultFile {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY
        #if canImport(Glibc)
            let descriptor = Glibc.open(path, flags)
        #elseif canImport(Musl)
            let descriptor = Musl.open(path, flags)
        #else
            let descriptor = Darwin.open(path, flags)
        #endif
        guard descriptor >= 0 else { throw TestResultFileError(opening: name, errno: errno) }
        let file = ResultFile(descriptor: descriptor, name: name)
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw TestResultFileError(opening: name, errno: errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw TestResultFileError(
                .notRegular, name: name,
                description:
                    "\(name) is not a regular file. Let the step write its results to a regular file.")
        }
        return file
    }

    deinit { _ = close(descriptor) }

    /// Reads up to `count` bytes; fewer only at the end of the file.
    borrowing func read(_ count: Int) throws(TestResultFileError) -> [UInt8] {
        var failure: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, let base = buffer.baseAddress {
                #if canImport(Glibc)
                    let got = Glibc.read(descriptor, base + filled, count - filled)
                #elseif canImport(Musl)
                    let got = Musl.read(descriptor, base + filled, count - filled)
                #else
                    let got = Darwin.read(descriptor, base + filled, count - filled)
                #endif
                if got > 0 {
                    filled += got
                } else if got == 0 {
                    return
                } else if errno != EINTR {
                    failure = errno
                    return
                }
            }
        }
        guard failure == 0 else { throw TestResultFileError(opening: name, errno: failure) }
        return bytes
    }
}

extension TestResultFileError {
    fileprivate init(opening name: String, errno number: Int32) {
        switch number {
        case ENOENT, ENOTDIR:
            self.init(
                .missing, name: name, errno: number,
                description: "\(name) does not exist. Check the path the step writes its results to, and that it ran.")
        case ELOOP, ENXIO, EISDIR:
            self.init(
                .notRegular, name: name, errno: number,
                description: "\(name) is a link, folder, pipe or socket. Let the step write a regular file there.")
        default:
            self.init(
                .unreadable, name: name, errno: number,
                description: "\(name) can't be read: \(String(cString: strerror(number))). Check who may read it.")
        }
    }
}
