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
    /// Writes `bytes` to a file that only this user can write; one that is there keeps its place and is cut first, so
    /// who has it mounted sees the new bytes.
    ///
    /// - Parameter isForAll: Whether other users may read it.
    /// - Throws: `Errno`.
    package static func write(_ bytes: some Sequence<UInt8>, to path: String, isForAll: Bool = false) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, isForAll ? 0o644 : 0o600)
        guard file >= 0 else { throw Errno(rawValue: errno) }
        defer { closeFile(file) }
        // The mode above is held back by the process's umask, and not used for a file that is there.
        guard fchmod(file, isForAll ? 0o644 : 0o600) == 0 else { throw Errno(rawValue: errno) }
        try FileDescriptor(rawValue: file).writeAll(Array(bytes))
    }

    /// The same for what may be there already: a file that says `text` is left as it is.
    ///
    /// Only in a folder that nobody else can write to.
    static func keep(_ text: String, at path: String, isForAll: Bool = false) throws {
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
