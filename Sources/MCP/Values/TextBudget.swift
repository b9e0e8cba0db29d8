/// Cuts texts and lists to a number of bytes, between lines or items, with a note about the rest.
public struct TextBudget: Sendable {
    /// The most bytes.
    public let bytes: Int

    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    /// The first lines of `text` that fit together with the note.
    ///
    /// - Parameter rest: Says how to get what was cut.
    public func head(of text: String, rest: String) -> (text: String, isCut: Bool) {
        guard text.utf8.count > bytes else { return (text, false) }
        let note = note(of: text, rest)
        var kept = Substring(text.utf8.prefix(max(bytes - note.utf8.count, 0))) ?? ""
        if let end = kept.utf8.lastIndex(of: UInt8(ascii: "\n")) { kept = kept[...end] } else { kept = "" }
        return (fitting(String(kept) + note), true)
    }

    /// The last lines of `text` that fit together with the note.
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

    /// If the budget is very small, the note alone may be too long.
    private func fitting(_ text: String) -> String {
        text.utf8.count <= bytes ? text : String(decoding: text.utf8.prefix(bytes), as: UTF8.self).trimmedReplacement
    }

    /// As many of the first items as fit in addition to `others` bytes.
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
    /// The bytes as text, without a partial character at either end.
    fileprivate init?(_ bytes: Substring.UTF8View.SubSequence) {
        let text = String(decoding: bytes, as: UTF8.self)
        self = text.drop { $0 == "\u{FFFD}" }
    }
}

extension String {
    /// The text without the replacement character of a partial character at its end.
    fileprivate var trimmedReplacement: String { hasSuffix("\u{FFFD}") ? String(dropLast()) : self }
}
