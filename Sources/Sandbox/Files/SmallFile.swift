import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Files of a run's own that need not outlive the machine: written in place and not flushed.
///
/// Foundation flushes what it writes, which costs a run some milliseconds for each file that it needs for a moment.
package enum SmallFile {
    /// Writes `bytes` to a file that only this user can write; one that is there keeps its place, so who has it mounted sees
    /// the new bytes.
    ///
    /// It is written over and never emptied first: what a file system emptied and filled again it sends to the disk at once
    /// (ext4's `auto_da_alloc`), and the next time waits for that.
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
        // The mode above is held back by the process's umask, and not used for a file that is there.
        if info.st_mode & 0o7777 != mode, fchmod(file, mode) != 0 { throw Errno(rawValue: errno) }
        let bytes = Array(bytes)
        if info.st_size > bytes.count, ftruncate(file, off_t(bytes.count)) != 0 { throw Errno(rawValue: errno) }
        try FileDescriptor(rawValue: file).writeAll(bytes)
    }

    /// The same for what may be there already: a file that says `text` is left as it is.
    ///
    /// Only in a folder that nobody else can write to.
    package static func keep(_ text: String, at path: String, isForAll: Bool = false) throws {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        if file >= 0 {
            defer { closeFile(file) }
            // One byte more, so that a longer file is another one.
            let found = withUnsafeTemporaryAllocation(byteCount: text.utf8.count + 1, alignment: 1) { space in
                let count = read(file, space.baseAddress, space.count)
                return count == text.utf8.count && space.prefix(count).elementsEqual(text.utf8)
            }
            if found { return }
        }
        try write(text.utf8, to: path, isForAll: isForAll)
    }
}
