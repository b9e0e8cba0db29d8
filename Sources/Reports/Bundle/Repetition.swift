/// Takes out of what a test printed the lines that its message says already.
enum Repetition {
    /// The excerpt without the lines at its beginning that repeat the message; nil if no text is left.
    ///
    /// A message may show escape characters that a log is shown without, and a log has the place before the message, so
    /// lines are compared by their letters and digits, without colours.
    static func removed(from excerpt: String, said message: String?) -> String? {
        guard let message, excerpt != message else { return message == nil ? excerpt : nil }
        let said = message.split(separator: "\n").map(core).filter { $0.count >= shortest }
        let whole = core(message)
        let lines = excerpt.split(separator: "\n", omittingEmptySubsequences: false)
        var isRepeating = false
        let rest = lines.drop { line in
            let own = core(line)
            guard !own.isEmpty else { return true }
            // A short line may be in the message by chance, unless it goes on after a line that is.
            let isPart = (isRepeating || own.count >= shortest) && whole.contains(own)
            isRepeating = isPart || said.contains { own.hasSuffix($0) }
            return isRepeating
        }
        guard rest.count < lines.count else { return excerpt }
        return rest.isEmpty ? nil : rest.joined(separator: "\n")
    }

    /// How many letters and digits of a line in the message are no chance.
    private static let shortest = 8

    private static func core(_ text: some StringProtocol) -> String {
        String(text)
            .replacing(/(?:\u{1B}|\\u\{1B\}|\\e|\\033|\\x1[Bb])\[[0-9;]*m/, with: "")
            .filter { $0.isLetter || $0.isNumber }
    }
}
