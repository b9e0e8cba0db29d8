import Results

/// What a format says of a test that failed, to be made into a message, details and a place.
struct FailureParts {
    /// The failure in its writer's words.
    var message: String?
    /// The exception's type, where there is no message.
    var type: String?
    var trace: String?
    /// What the test printed.
    var output: String?

    /// Puts message, details and place into `result`, which has the place of the test's declaration so far.
    func describe(_ result: inout TestResult) {
        let message = message?.withoutColours
        let trace = trace?.withoutColours
        let words = FailureText.message(attribute: message, type: type, text: trace ?? "", test: result.name)
        result.message = words
        var parts: [String] = []
        // Only a part of it is in the message.
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
    /// The text without the sequences that colour it on a terminal: `ESC [ … letter`.
    var withoutColours: String { utf8.contains(0x1B) ? ConsoleReading.plain(Array(utf8)) : self }
}
