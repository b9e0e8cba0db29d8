import ForeignText

/// The message of an XCTest assertion, which may have several lines.
///
/// On the console nothing marks its end: `FILE:LINE: error: Class.test : TEXT` is followed by whatever the test prints
/// next. For assertions that show two values, the end is known from their form.
package enum XCTestMessage {
    /// The most lines of one message that are kept.
    package static let mostLines = 60

    /// Whether `text` is a complete message of an assertion, as far as that can be decided.
    package static func isComplete(_ text: some StringProtocol) -> Bool {
        guard opensValue(text), let open = text.byteRange(of: "(\"") else { return true }
        for mark in ["\") is ", "\") and (\""] {
            guard let middle = text[open.upperBound...].byteRange(of: mark) else { continue }
            let rest = text[middle.upperBound...]
            return rest.byteRange(of: "\") - ") != nil || rest.hasSuffix("\")") || rest.hasSuffix("\") -")
                || !rest.contains("(\"")
        }
        return text.hasSuffix("\")") || text.byteRange(of: "\") - ") != nil
    }

    /// Whether the message shows a value in `("…")`. It examines only the first bytes.
    static func opensValue(_ text: some StringProtocol) -> Bool {
        guard text.hasPrefix("XCTAssert") else { return false }
        return String(decoding: text.utf8.prefix(72), as: UTF8.self).byteRange(of: "failed: (\"") != nil
    }

    /// The message at the start of `text`: up to its end if the form shows that, otherwise one line.
    static func whole(from text: some StringProtocol) -> String {
        var message = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            message += index == 0 ? String(line) : "\n" + line
            if isComplete(message) || index == mostLines { break }
        }
        return message.trimmed
    }
}
