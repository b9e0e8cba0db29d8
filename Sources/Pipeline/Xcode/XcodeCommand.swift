/// A command line, as words that are quoted where they must be.
struct XcodeCommand: Equatable {
    enum Word: Equatable {
        case text(String)
        /// The value of a variable of the step, as one word.
        case variable(String)

        var quoted: String {
            switch self {
            case .text(let text): text.shellQuoted
            case .variable(let name): "\"$\(name)\""
            }
        }
    }

    var words: [Word]

    init(_ words: String...) { self.words = words.map { .text($0) } }

    func with(_ more: String...) -> XcodeCommand { with(more.map { .text($0) }) }

    func with(_ more: [Word]) -> XcodeCommand {
        var command = self
        command.words += more
        return command
    }

    /// The command for a POSIX shell.
    var line: String { words.map(\.quoted).joined(separator: " ") }
}
