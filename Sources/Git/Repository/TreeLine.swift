internal import CGit

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// One entry of a tree. It is valid as long as the tree's handle.
struct TreeLine {
    /// The name of files that decide how the files beside and below them are converted.
    static let attributes = Array(".gitattributes".utf8)

    let start: UnsafePointer<CChar>
    let mode: git_filemode_t
    private let raw: OpaquePointer

    init?(_ raw: OpaquePointer?) {
        guard let raw, let start = git_tree_entry_name(raw) else { return nil }
        self.raw = raw
        self.start = start
        mode = git_tree_entry_filemode(raw)
    }

    /// The most tree entries that are examined for one checkout: more than any repository has.
    static let most = 3_000_000

    /// The most bytes of paths that are in memory at the same time.
    private static let mostPathBytes = 512 << 20

    /// - Throws: `.tooLarge` if the tree has more.
    static func check(count: Int, pathBytes: Int = 0, most: Int = TreeLine.most) throws(GitError) {
        guard count > most || pathBytes > mostPathBytes else { return }
        throw GitError(
            call: "git_tree_lookup", code: .tooLarge,
            message: count > most
                ? "a tree, or the difference of two, has more than \(most) files and folders."
                : "the paths of a tree's files have more than \(mostPathBytes) bytes together.")
    }

    /// Refuses paths that no file system allows, because walking them would need stack.
    ///
    /// - Throws: `.tooLarge`.
    static func check(depthOf pathBytes: Int) throws(GitError) {
        guard pathBytes > 4_096 else { return }
        throw GitError(
            call: "git_tree_lookup", code: .tooLarge,
            message: "the tree has a path of more than 4,096 bytes, which can't be checked out.")
    }

    var id: OID { OID(git_tree_entry_id(raw).pointee) }
    var isFolder: Bool { mode == GIT_FILEMODE_TREE }
    /// Whether Git reads attributes from this entry, which it doesn't do from links.
    var isAttributes: Bool {
        (mode == GIT_FILEMODE_BLOB || mode == GIT_FILEMODE_BLOB_EXECUTABLE) && strcmp(start, ".gitattributes") == 0
    }
    var name: [UInt8] {
        UnsafeBufferPointer(start: start, count: strlen(start)).map { UInt8(bitPattern: $0) }
    }

    /// Git's order within a tree: folders sort as if their names ended with a slash.
    static func order(_ one: TreeLine?, _ other: TreeLine?) -> Int32 {
        guard let one else { return 1 }
        guard let other else { return -1 }
        let lengths = (strlen(one.start), strlen(other.start))
        let common = memcmp(one.start, other.start, min(lengths.0, lengths.1))
        if common != 0 { return common < 0 ? -1 : 1 }
        func next(_ entry: TreeLine, _ length: Int) -> UInt8 {
            let byte = UInt8(bitPattern: entry.start[min(lengths.0, lengths.1)])
            return byte == 0 && entry.isFolder ? 0x2F : byte
        }
        let (first, second) = (next(one, lengths.0), next(other, lengths.1))
        return first == second ? 0 : first < second ? -1 : 1
    }
}
