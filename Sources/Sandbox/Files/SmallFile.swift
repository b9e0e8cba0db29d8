import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Writes files of a run that need not survive a crash of the machine: in place and without a flush.
///
/// Foundation flushes the files that it writes, which is slow and not needed here.
package enum SmallFile {
    /// Writes `bytes` to a file that only this user can write. An existing file keeps its inode, so a process to which
    /// it is mounted sees the new bytes.
    ///
    /// The file is overwritten and never truncated first: a file system sends a truncated and refilled file to the disk
    /// at once (ext4's `auto_da_alloc`), and the next write would wait for that.
    ///
    /// - Parameter isForAll: Whether other users may read it.
    /// - Throws: `Errno`.
    package static func write(_ bytes: some Sequence<UInt8>, to path: String, isForAll: Bool = false) throws {
        let mode: mode_t = isForAll ? 0o644 : 0o600
        let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { closeFile(file) }
        var info = stat()
        guard fstat(file, &info) == 0 else { throw Errno(rawValue: errno) }
        // The mode given to open(2) is reduced by the process's umask, and ignored for an existing file.
        if info.st_mode & 0o7777 != mode, fchmod(file, mode) != 0 { throw Errno(rawValue: errno) }
        let bytes = Array(bytes)
        if info.st_size > bytes.count, ftruncate(file, off_t(bytes.count)) != 0 { throw Errno(rawValue: errno) }
        try FileDescriptor(rawValue: file).writeAll(bytes)
    }

    /// Writes `text` unless the file contains exactly that already.
    ///
    /// Use it only in a folder that nobody else can write to.
    package static func keep(_ text: String, at path: String, isForAll: Bool = false) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file >= 0 {
            defer { closeFile(file) }
            // One byte more is read, so that a longer file is seen to differ.
            let found = withUnsafeTemporaryAllocation(byteCount: text.utf8.count + 1, alignment: 1) { space in
                let count = read(file, space.baseAddress, space.count)
                return count == text.utf8.count && space.prefix(count).elementsEqual(text.utf8)
            }
            if found { return }
        }
        try write(text.utf8, to: path, isForAll: isForAll)
    }
}
