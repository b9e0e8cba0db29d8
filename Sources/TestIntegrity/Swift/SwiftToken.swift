/// One word of Swift source, comments and white space left out.
struct SwiftToken: Sendable, Equatable {
    enum Kind: Sendable, Equatable {
        case identifier
        case number
        /// A whole string literal, with its quotes and what is interpolated.
        case string
        case regex
        case `operator`
        /// One of `( ) [ ] { } , ; : . @ \`.
        case punctuation
        /// `#expect`, with the `#`.
        case macro
        /// `#if`, `#elseif`, `#else`, `#endif`; ``SwiftToken/text`` is the condition of the first two.
        case directive(Directive)
    }

    enum Directive: String, Sendable { case `if`, `elseif`, `else`, `endif` }

    var kind: Kind
    /// Without the backticks of a raw identifier.
    var text: String
    /// From 1.
    var line: Int
    /// Whether white space or a comment stands before it.
    var isSpaced: Bool
    /// Whether it is the first of its line.
    var startsLine: Bool

    func isPunctuation(_ text: String) -> Bool { kind == .punctuation && self.text == text }
    func isWord(_ text: String) -> Bool { kind == .identifier && self.text == text }
}
