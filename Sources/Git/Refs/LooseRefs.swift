internal import Foundation

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The refs that have a file of their own below `refs/` (gitrepository-layout(5)).
struct LooseRefs {
    enum Target: Equatable {
        case id(OID)
        /// Points to another ref.
        case ref(String)
    }

    /// Sorted by the bytes of the names.
    private(set) var refs: [(name: String, target: Target)] = []
    /// A hash of all names and contents: equal for the same refs in this process.
    private(set) var digest = 0
    /// Whether a file has another form, or can't be read. Then libgit2 must decide.
    private(set) var hasOthers = false
    /// Whether folders are nested too deeply for libgit2 to list all refs. Beyond a certain depth libgit2 1.5 reads no
    /// loose refs (`FILESYSTEM_MAX_DEPTH` in its iterator.c) and stops without an error, so that refs beside and after
    /// it are missing, too. Git itself sets and lists refs at any depth.
    private(set) var isBeyondLibrary = false
    private static let deepest = 100

    /// - Parameters:
    ///   - folder: The repository's common folder.
    ///   - prefix: The folder of refs to read, with a slash at its end.
    init(in folder: String, under prefix: String = "refs/") {
        var hasher = Hasher()
        let top = String(prefix.dropLast())
        var folders = [(path: top, depth: top.split(separator: "/").count)]
        var found: [(name: String, content: [UInt8])] = []
        while let (current, depth) = folders.popLast() {
            if depth >= LooseRefs.deepest { isBeyondLibrary = true }
            guard let handle = opendir("\(folder)/\(current)") else {
                // Git may remove empty folders at the same time.
                if errno != ENOENT { hasOthers = true }
                continue
            }
            defer { closedir(handle) }
            while let entry = readdir(handle) {
                guard let name = LooseRefs.name(of: entry) else { continue }
                // No part of a ref's name begins with a dot, and a lock file is not a ref.
                if name.hasPrefix(".") || name.hasSuffix(".lock") { continue }
                let path = "\(current)/\(name)"
                if LooseRefs.isFolder(entry, "\(folder)/\(path)") {
                    folders.append((path, depth + 1))
                } else if let content = LooseRefs.read("\(folder)/\(path)") {
                    found.append((path, content))
                } else if errno != ENOENT {
                    hasOthers = true
                }
            }
        }
        found.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        for (name, content) in found {
            hasher.combine(name)
            hasher.combine(content)
            if let target = LooseRefs.target(content) { refs.append((name, target)) } else { hasOthers = true }
        }
        digest = hasher.finalize()
    }

    private static func target(_ content: [UInt8]) -> Target? {
        let text = content.last == 0x0A ? content.dropLast() : content[...]
        if let id = text.withUnsafeBytes({ OID(hex: $0) }) { return .id(id) }
        guard text.starts(with: "ref: refs/".utf8), let name = String(validating: text.dropFirst(5), as: UTF8.self),
            !name.contains(where: \.isWhitespace)
        else { return nil }
        return .ref(name)
    }

    /// Nil for a name that is not valid UTF-8. It is left out.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        let capacity = MemoryLayout.size(ofValue: entry.pointee.d_name)
        return withUnsafePointer(to: &entry.pointee.d_name) { name in
            name.withMemoryRebound(to: CChar.self, capacity: capacity) { String(validatingCString: $0) }
        }
    }

    private static func isFolder(_ entry: UnsafeMutablePointer<dirent>, _ path: String) -> Bool {
        if entry.pointee.d_type != DT_UNKNOWN && entry.pointee.d_type != DT_LNK {
            return Int32(entry.pointee.d_type) == Int32(DT_DIR)
        }
        var info = stat()
        return stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// A ref's file, up to the length that one can have.
    private static func read(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
            count = max(readSome(file, buffer), 0)
        }
    }
}

/// read(2), which a method with the same name hides here.
private func readSome(_ file: Int32, _ buffer: UnsafeMutableBufferPointer<UInt8>) -> Int {
    read(file, buffer.baseAddress, buffer.count)
}
