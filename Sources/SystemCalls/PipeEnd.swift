#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What is at the other side of a descriptor.
package enum PipeEnd {
    /// Whether `descriptor` is an end of a pipe or a socket.
    package static func isThere(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT)
    }
}
