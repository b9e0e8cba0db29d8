import CGit
import Foundation

extension Repository {
    /// Folders in folders below which libgit2 1.5 reads no loose ref (`FILESYSTEM_MAX_DEPTH` in its iterator.c).
    ///
    /// It then ends the reading without an error, so that refs beside and after the deep one are missing, too.
    private static let deepest = 100

    /// All loose refs with what they hold, where libgit2 can't list them; empty in nearly every repository.
    ///
    /// Git itself sets and lists refs of any depth, so whoever may push one could hide all others from a watcher.
    func looseRefsBeyondReach() -> [(name: String, id: OID)] {
        let root = commonDirectory + "/"
        guard Self.isDeep(root + "refs") else { return [] }
        var refs: [(String, OID)] = []
        var folders = ["refs"]
        while let folder = folders.popLast() {
            Self.visit(root + folder) { name, isFolder in
                let path = "\(folder)/\(name)"
                if isFolder {
                    folders.append(path)
                } else if isRefName(path), let id = Self.firstLine(of: root + path).flatMap(OID.init(hex:)) {
                    // A lock, or what a killed git left half-written, is no ref.
                    refs.append((path, id))
                }
            }
        }
        return refs
    }

    private func isRefName(_ name: String) -> Bool {
        var isValid: Int32 = 0
        return git_reference_name_is_valid(&isValid, name) == 0 && isValid == 1
    }

    /// Whether some folder is nested too deep; looks at folders only, and into none that can have no others in it.
    private static func isDeep(_ top: String) -> Bool {
        var folders = [(path: top, depth: 1)]
        while let folder = folders.popLast() {
            if folder.depth >= deepest { return true }
            var info = stat()
            // Where links of folders are counted, each folder in it is one; others say 1.
            guard lstat(folder.path, &info) == 0, info.st_nlink != 2 else { continue }
            visit(folder.path) { name, isFolder in
                if isFolder { folders.append(("\(folder.path)/\(name)", folder.depth + 1)) }
            }
        }
        return false
    }

    /// Calls `body` for each entry that may be of a ref's name: not the dots, whatever else begins with one, or no UTF-8.
    private static func visit(_ folder: String, _ body: (_ name: String, _ isFolder: Bool) -> Void) {
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            if entry.pointee.d_name.0 == CChar(bitPattern: UInt8(ascii: ".")) { continue }
            let kind = Int(entry.pointee.d_type)
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(validatingCString: $0) }
            }
            guard let name else { continue }
            var isFolder = kind == Int(DT_DIR)
            if kind == Int(DT_UNKNOWN) {
                var info = stat()
                isFolder = lstat("\(folder)/\(name)", &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
            }
            body(name, isFolder)
        }
    }

    private static func firstLine(of path: String) -> String? {
        guard let file = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? file.close() }
        guard let data = try? file.read(upToCount: 64) else { return nil }
        return String(decoding: data.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
}
