/// A text that grows up to a limit, and that counts what was left out.
package struct BoundedText {
    /// The first bytes, at most ``limit``.
    package private(set) var bytes: [UInt8] = []
    /// The number of bytes that were dropped.
    package private(set) var dropped = 0
    /// The most bytes that are kept.
    package let limit: Int

    package init(limit: Int) {
        self.limit = limit
    }

    /// Whether no byte is kept.
    package var isEmpty: Bool { bytes.isEmpty }

    /// Appends as much as fits, and returns the number of bytes appended.
    @discardableResult
    /// Appends bytes up to the limit. Returns how many of them were kept.
    package mutating func append(_ more: some Collection<UInt8>) -> Int {
        let room = max(0, limit - bytes.count)
        if more.count <= room {
            bytes.append(contentsOf: more)
            return more.count
        } else {
            bytes.append(contentsOf: more.prefix(room))
            dropped += more.count - room
            return room
        }
    }

    /// The text without blank lines and spaces around it. If something was left out, a last line says how much.
    package var string: String {
        let text = trimmed
        return dropped == 0 ? text : text.cut(to: limit, missing: dropped)
    }

    private var trimmed: String {
        var end = bytes.count
        while end > 0, bytes[end - 1].isXMLSpace { end -= 1 }
        // At the start, only whole blank lines are removed: the first line's indentation belongs to the text.
        var start = 0
        var position = 0
        while position < end, bytes[position].isXMLSpace {
            position += 1
            if bytes[position - 1] == .newline { start = position }
        }
        return String(cleaning: bytes[min(start, end)..<end])
    }
}

extension String {
    /// `bytes` as text: invalid UTF-8 and NUL become U+FFFD.
    package init(cleaning bytes: some Collection<UInt8>) {
        guard bytes.contains(0) else {
            self.init(decoding: bytes, as: UTF8.self)
            return
        }
        self.init()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            unicodeScalars.append(scalar.value == 0 ? "\u{FFFD}" : scalar)
        }
    }

    /// One line as text, without its colours: `ESC [ … letter`.
    package init(uncoloured bytes: [UInt8]) {
        guard bytes.contains(0x1B) else {
            self.init(cleaning: bytes)
            return
        }
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == 0x1B, index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "[") {
                index += 2
                while index < bytes.count, !(0x40...0x7E ~= bytes[index]) { index += 1 }
                index += 1
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        self.init(cleaning: result)
    }

    /// The longest prefix of whole scalars with at most `limit` bytes.
    package func prefix(bytes limit: Int) -> Substring {
        let view = utf8
        guard view.count > limit else { return self[...] }
        var end = view.index(view.startIndex, offsetBy: max(0, limit))
        while end > view.startIndex, view[end] & 0xC0 == 0x80 { end = view.index(before: end) }
        return self[..<end]
    }

    /// The text within `limit` bytes. If it is cut, the end says how many bytes are missing, including `missing`
    /// others.
    package func cut(to limit: Int, missing: Int = 0) -> String {
        let length = utf8.count
        guard missing > 0 || length > limit else { return self }
        // The number has at most 20 digits. A fixed size avoids that its length changes the number.
        let kept = prefix(bytes: max(0, limit - 44))
        return kept + "\n… (\(length - kept.utf8.count + missing) more bytes cut)"
    }

    /// The text without white space around it.
    package var trimmed: String {
        let bytes = utf8
        guard let first = bytes.firstIndex(where: { !$0.isXMLSpace }),
            let last = bytes.lastIndex(where: { !$0.isXMLSpace })
        else { return "" }
        return String(self[first...last])
    }
}
