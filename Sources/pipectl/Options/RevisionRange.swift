/// `OLD..NEW`, or one revision for its whole history. Names may contain single dots, as in `v1.0`.
struct RevisionRange: Equatable {
    /// Nil for a whole history.
    var old: String?
    var new: String

    /// Reads `text` as Git does: a missing end is `HEAD`. No name can contain two dots in a row.
    init(_ text: String) throws(CommandEnd) {
        guard !text.contains("...") else {
            throw CommandEnd(
                code: 2,
                message: "\"\(text)\": three dots mean a symmetric difference in Git. Write OLD..NEW with two dots.")
        }
        let parts = text.split(separator: "..", omittingEmptySubsequences: false).map(String.init)
        switch parts.count {
        case 1 where !text.isEmpty: (old, new) = (nil, text)
        case 2 where parts != ["", ""]:
            (old, new) = (parts[0].isEmpty ? "HEAD" : parts[0], parts[1].isEmpty ? "HEAD" : parts[1])
        default:
            throw CommandEnd(
                code: 2, message: "\"\(text)\" is not a range. Write OLD..NEW, as v1.0..v1.1, or one revision.")
        }
    }
}
