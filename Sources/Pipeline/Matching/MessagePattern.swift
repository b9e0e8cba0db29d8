/// A pattern for commit messages: text that one line of the message contains.
///
/// `*` stands for any characters of the line, `^` at the start for the start of a line, and `\` takes the next character
/// literally. Brackets are themselves, so that `[skip ci]` means what it says; that is why this is no ``Glob``.
///
/// Characters are Unicode scalars, as in a glob. There is no backtracking: whoever writes the message of a change can't
/// make the daemon busy with it.
package struct MessagePattern: Sendable, Equatable {
    /// What stands between the stars, in order.
    private let pieces: [[Unicode.Scalar]]
    private let isAnchored: Bool

    /// The longest pattern, in bytes, that is accepted.
    static let lengthLimit = 1_024

    /// Reads a pattern.
    ///
    /// - Throws: ``MessagePatternProblem`` for one that is too long, that every message matches, or that none does.
    package init(_ pattern: String) throws(MessagePatternProblem) {
        func refuse(_ reason: String) -> MessagePatternProblem {
            MessagePatternProblem(
                description: "the message pattern \"\(pattern.prefix(100))\" can't be used: \(reason)")
        }
        guard pattern.utf8.count <= Self.lengthLimit else {
            throw refuse("it is longer than \(Self.lengthLimit) bytes; a part of the line is enough")
        }
        var scalars = pattern.unicodeScalars[...]
        isAnchored = scalars.first == "^"
        if isAnchored { scalars.removeFirst() }
        var pieces: [[Unicode.Scalar]] = [[]]
        while let scalar = scalars.popFirst() {
            switch scalar {
            case "*": pieces.append([])
            case "\\":
                guard let next = scalars.popFirst() else {
                    throw refuse("it ends with a single \\; write \\\\ for the character itself")
                }
                pieces[pieces.count - 1].append(next)
            default: pieces[pieces.count - 1].append(scalar)
            }
        }
        guard !pieces.joined().contains(where: { $0.properties.generalCategory == .control && $0 != "\t" }) else {
            throw refuse(
                "it has a line break or a control character, and is compared with one line; use a pattern for each line"
            )
        }
        guard pieces.joined().contains(where: { !$0.properties.isWhitespace }) else {
            throw refuse("every message would match; name some text of the message, or leave the pattern out")
        }
        self.pieces = pieces
    }

    /// Whether a line of `message` matches.
    package func matches(_ message: String) -> Bool {
        message.unicodeScalars.split { $0 == "\n" || $0 == "\r" }.contains { matches(line: Array($0)) }
    }

    /// The first place of each piece is the best one, because nothing follows the last.
    private func matches(line: [Unicode.Scalar]) -> Bool {
        var rest = line[...]
        for (number, piece) in pieces.enumerated() where !piece.isEmpty {
            if number == 0 && isAnchored {
                guard rest.starts(with: piece) else { return false }
                rest = rest.dropFirst(piece.count)
            } else {
                while !rest.starts(with: piece) {
                    guard rest.count > piece.count else { return false }
                    rest = rest.dropFirst()
                }
                rest = rest.dropFirst(piece.count)
            }
        }
        return true
    }
}

/// Why a pattern for messages can't be used.
package struct MessagePatternProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence, with the pattern and what to do.
    package var description: String
}
