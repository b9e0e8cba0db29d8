import ForeignText
import Results

/// The facts about a failed test in a format, from which the message, the details and the location are made.
struct FailureParts {
    /// The failure in the tool's words.
    var message: String?
    /// The exception's type, where there is no message.
    var type: String?
    var trace: String?
    /// The test's output.
    var output: String?

    /// Puts message, details and location into `result`, which so far has the location of the test's declaration.
    func describe(_ result: inout TestResult) {
        let message = message?.withoutColours
        let trace = trace?.withoutColours
        let words = FailureText.message(attribute: message, type: type, text: trace ?? "", test: result.name)
        result.message = words
        var parts: [String] = []
        // The message has only a part of it.
        if let message, let words, message.trimmed.utf8.count > words.utf8.count + 16 { parts.append(message.trimmed) }
        for part in [trace, output] {
            if let part, !part.isEmpty { parts.append(part) }
        }
        result.details = parts.isEmpty ? nil : parts.joined(separator: "\n\n")
        let locator = SourceLocator(declaredFile: result.file, suite: result.suite)
        if let place = locator.locate(in: [trace, message, output]) {
            (result.file, result.line) = (place.file, place.line)
        }
    }
}

extension String {
    /// The text without terminal colour sequences: `ESC [ … letter`.
    var withoutColours: String { utf8.contains(0x1B) ? String(uncoloured: Array(utf8)) : self }
}
