/// Two open changes that can't both land as they are: whichever lands second conflicts.
public struct EarlyConflict: Sendable, Equatable, Codable {
    /// The names of the changes, and the heads that were merged.
    public var change: String
    public var head: String
    public var other: String
    public var otherHead: String
    /// The files that conflict, at most some of them; foreign text.
    public var paths: [String]

    public init(change: String, head: String, other: String, otherHead: String, paths: [String]) {
        self.change = change
        self.head = head
        self.other = other
        self.otherHead = otherHead
        self.paths = paths
    }

    /// The same from the other change's side.
    public var reversed: EarlyConflict {
        EarlyConflict(change: other, head: otherHead, other: change, otherHead: head, paths: paths)
    }

    /// What the author of ``change`` is told, as a sentence.
    public var inWords: String {
        let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
        return "it conflicts with the open change \(other) in \(paths.prefix(3).joined(separator: ", "))\(more)"
    }
}
