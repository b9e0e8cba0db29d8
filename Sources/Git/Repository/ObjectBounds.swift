/// The largest objects that are read into memory, in bytes. An object that a change brings may have gigabytes when it
/// is unpacked.
enum ObjectBounds {
    /// A commit with its message.
    static let commit = 16 << 20
    /// A tree: a list of some 500,000 names.
    static let tree = 64 << 20
    /// A file that is compared by lines. A file of empty lines needs about 80 times its size.
    static let comparedFile = 2 << 20
    /// A file that both sides of a merge have changed.
    static let mergedFile = 8 << 20
    /// All files that are compared by lines in one difference of two commits.
    static let compared = 256 << 20
    /// The files that are compared to find renames: each of them, and all together.
    static let renamedFile = 16 << 20
    static let renamed = 256 << 20
    /// The most pairs of a deleted and an added file that are compared to find renames.
    static let renamePairs = 1_000_000
    /// The most tree entries that are examined for one difference of two commits.
    static let differingEntries = 500_000
}

extension Repository {
    /// - Throws: `.tooLarge` if the object has more than `most` bytes. It is not unpacked then.
    func requireSize(of id: OID, atMost most: Int) throws(GitError) {
        let bytes = try size(of: id)
        guard bytes > most else { return }
        throw GitError(
            call: "git_odb_read_header", code: .tooLarge,
            message: "object \(id.short) has \(bytes) bytes; at most \(most) are read into memory.")
    }
}
