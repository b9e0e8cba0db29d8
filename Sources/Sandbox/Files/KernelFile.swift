package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Reads files of /proc, which report a size of zero and return a few pages at a time.
package enum KernelFile {
    /// Reads a file of /proc to its end. Throws the `Errno` of open(2) or read(2).
    package static func content(of path: String) throws(Errno) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { closeFile(file) }
        var content: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(file, &piece, piece.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw Errno(rawValue: errno) }
            if count == 0 { return content }
            content += piece.prefix(count)
        }
    }
}
