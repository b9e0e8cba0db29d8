internal import CGit

/// A commit, copied out of the object store.
public struct Commit: Sendable, Equatable {
    /// The commit's id.
    public var id: OID
    /// The id of its tree.
    public var tree: OID
    /// The ids of its parents, in order; a merge has several.
    public var parents: [OID]
    /// The person who wrote it, and when.
    public var author: Signature
    /// The person who made the commit, and when.
    public var committer: Signature
    /// At most 64 KiB of the message. Bytes that are not UTF-8 appear as U+FFFD.
    public var message: String

    public init(
        id: OID, tree: OID, parents: [OID], author: Signature, committer: Signature, message: String
    ) {
        self.id = id
        self.tree = tree
        self.parents = parents
        self.author = author
        self.committer = committer
        self.message = message
    }

    /// The most bytes that are read of a message.
    static let messageLimit = 65_536
    /// The most bytes of a summary.
    public static let summaryLimit = 1_024

    /// The message's first line that is not blank, without surrounding spaces; at most 1 KiB.
    public var summary: String {
        if let plain = plainSummary { return plain }
        for line in message.split(whereSeparator: \.isNewline) {
            if let first = line.firstIndex(where: { !$0.isWhitespace }),
                let last = line.lastIndex(where: { !$0.isWhitespace })
            {
                return BoundedText.cut(String(line[first...last]), to: Self.summaryLimit)
            }
        }
        return ""
    }

    /// The summary if it is ASCII, as most are: then each byte is a character. Nil if it may not be.
    private var plainSummary: String? {
        let bytes = message.utf8
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
        guard let start = bytes.firstIndex(where: { !isSpace($0) }) else { return "" }
        var (end, place) = (start, start)
        while place < bytes.endIndex, !(0x0A...0x0D ~= bytes[place]) {
            guard bytes[place] < 0x80 else { return nil }
            bytes.formIndex(after: &place)
            if !isSpace(bytes[bytes.index(before: place)]) { end = place }
        }
        return BoundedText.cut(String(message[start..<end]), to: Self.summaryLimit)
    }

    /// Copies `commit`, a `git_commit *` that the caller keeps.
    init(copying commit: OpaquePointer) {
        id = OID(git_commit_id(commit).pointee)
        tree = OID(git_commit_tree_id(commit).pointee)
        parents = (0..<git_commit_parentcount(commit)).compactMap { number in
            git_commit_parent_id(commit, number).map { OID($0.pointee) }
        }
        author = Signature(git_commit_author(commit).pointee)
        committer = Signature(git_commit_committer(commit).pointee)
        message = BoundedText.cut(git_commit_message(commit), to: Self.messageLimit)
    }
}
