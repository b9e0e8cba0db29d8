/// Cuts texts and lists to a number of bytes, at a place where a reader loses no half of anything, and says so.
public struct TextBudget: Sendable {
    public let bytes: Int

    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    /// The lines of `text` from its start that fit together with the sentence about the rest.
    ///
    /// - Parameter rest: Says how to get what was left out.
    public func head(of text: String, rest: String) -> (text: String, isCut: Bool) {
        guard text.utf8.count > bytes else { return (text, false) }
        let note = note(of: text, rest)
        var kept = Substring(text.utf8.prefix(max(bytes - note.utf8.count, 0))) ?? ""
        if let end = kept.utf8.lastIndex(of: UInt8(ascii: "\n")) { kept = kept[...end] } else { kept = "" }
        return (fitting(String(kept) + note), true)
    }

    /// The lines of `text` up to its end that fit.
    public func tail(of text: String, rest: String) -> (text: String, isCut: Bool) {
        guard text.utf8.count > bytes else { return (text, false) }
        let note = note(of: text, rest)
        let view = text.utf8
        var kept = Substring(view.suffix(max(bytes - note.utf8.count - 1, 0))) ?? ""
        if let end = kept.utf8.firstIndex(of: UInt8(ascii: "\n")) {
            kept = kept[kept.utf8.index(after: end)...]
        } else {
            kept = ""
        }
        return (fitting(note + "\n" + String(kept)), true)
    }

    private func note(of text: String, _ rest: String) -> String {
        "… cut to \(bytes) of \(text.utf8.count) bytes; \(rest)"
    }

    /// The note alone may be too long for a budget that is very small.
    private func fitting(_ text: String) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self).trimmedReplacement
    }

    /// As many items from the start as fit, when `others` bytes are taken already.
    public func fitting(_ items: [JSON], beside others: Int) -> [JSON] {
        var left = bytes - others
        var kept: [JSON] = []
        for item in items {
            left -= item.bytes.count + 1
            guard left >= 0 else { break }
            kept.append(item)
        }
        return kept
    }
}

extension Substring {
    /// The bytes as text; half a character at either end is left out.
    fileprivate init?(_ bytes: Substring.UTF8View.SubSequence) {
        let text = String(decoding: bytes, as: UTF8.self)
        self = text.drop { $0 == "\u{FFFD}" }
    }
}

extension String {
    /// Without the replacement character that half a character at the end became.
    fileprivate var trimmedReplacement: String { hasSuffix("\u{FFFD}") ? String(dropLast()) : self }
}
