import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What is in a folder that is changed while it is gone through.
package enum FolderEntries {
    /// Has `body` called with each entry of a folder, whose descriptor is open until then and closed after that.
    ///
    /// All are read first: what readdir(3) gives while entries go away differs by file system.
    ///
    /// - Parameters:
    ///   - folder: Becomes this function's own.
    ///   - body: Gets names as bytes with their closing zero, without `.` and `..`. A file system may not tell folders from
    ///     files in its lists; then `isFolder` is false.
    /// - Throws: `Errno`, and what `body` throws.
    package static func visit(_ folder: Int32, _ body: (_ name: [CChar], _ isFolder: Bool) throws -> Void) throws {
        guard let listing = fdopendir(folder) else {
            let problem = errno
            closeFile(folder)
            throw Errno(rawValue: problem)
        }
        defer { closedir(listing) }
        var entries: [(name: [CChar], isFolder: Bool)] = []
        while true {
            // Nil is the end, or a disk that fails.
            errno = 0
            guard let entry = readdir(listing) else {
                if errno != 0 { throw Errno(rawValue: errno) }
                break
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: field.pointee)) {
                    Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1))
                }
            }
            let isDots = name[0] == 46 && (name[1] == 0 || name[1] == 46 && name[2] == 0)
            if !isDots { entries.append((name, Int(entry.pointee.d_type) == Int(DT_DIR))) }
        }
        for (name, isFolder) in entries { try body(name, isFolder) }
    }
}
