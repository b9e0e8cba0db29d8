/// A paragraph that pipectl owns in a handwritten file, between two marker lines.
enum MarkedParagraph {
    static let begin = "<!-- pipectl: begin -->"
    static let end = "<!-- pipectl: end -->"

    /// The text with the paragraph, in place of the earlier one or at the end.
    static func set(_ paragraph: String, in text: String) throws(JSONEdit.Problem) -> String {
        let block = "\(begin)\n\(paragraph)\(end)"
        let starts = text.ranges(of: begin)
        let ends = text.ranges(of: end)
        if starts.isEmpty, ends.isEmpty {
            let gap = text.isEmpty ? "" : text.hasSuffix("\n\n") ? "" : text.hasSuffix("\n") ? "\n" : "\n\n"
            return text + gap + block + "\n"
        }
        guard starts.count == 1, ends.count == 1, starts[0].upperBound <= ends[0].lowerBound else {
            throw JSONEdit.Problem(
                description:
                    "it has \(starts.count) lines \"\(begin)\" and \(ends.count) lines \"\(end)\"; pipectl expects one of each, in this order"
            )
        }
        return text.replacingCharacters(starts[0].lowerBound..<ends[0].upperBound, with: block)
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
