import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Lists a folder whose content changes meanwhile.
package enum FolderEntries {
    /// Calls `body` for each entry of a folder. The descriptor stays open until the last call and is closed then.
    ///
    /// All entries are read first: file systems differ in what readdir(3) returns while entries are removed.
    ///
    /// - Parameters:
    ///   - folder: The folder's descriptor; this function closes it.
    ///   - body: Receives each name as bytes with a terminating zero; `.` and `..` are left out. `isFolder` is false where
    ///     the file system does not tell folders from files in its listings.
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
