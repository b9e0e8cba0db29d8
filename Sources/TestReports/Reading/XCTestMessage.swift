/// The text of an XCTest assertion, which may have several lines.
///
/// On the console nothing marks its end: `FILE:LINE: error: Class.test : TEXT`, and what the test prints next follows on
/// the next line. Of the assertions that show two values the end can be told by their form.
package enum XCTestMessage {
    /// Lines of one message that are kept.
    package static let mostLines = 60

    /// Whether `text` is an assertion's message up to its end, as far as that can be told.
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

    /// Whether the message is one of those that show a value in `("…")`; looks at its first bytes only.
    static func opensValue(_ text: some StringProtocol) -> Bool {
        guard text.hasPrefix("XCTAssert") else { return false }
        return String(decoding: text.utf8.prefix(72), as: UTF8.self).byteRange(of: "failed: (\"") != nil
    }

    /// The message that `text` begins with: to its end where its form tells that, else one line.
    static func whole(from text: some StringProtocol) -> String {
        var message = ""
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            message += index == 0 ? String(line) : "\n" + line
            if isComplete(message) || index == mostLines { break }
        }
        return message.trimmed
    }
}
