/// The lines of a change as its forge shows them: head against the commit where the change began.
///
/// A run tests the change merged with its target, where lines may have other numbers than in the head. This value knows
/// both.
public struct ChangeDelta: Sendable, Equatable {
    /// A part of a file's difference, as Git prints it.
    public struct Hunk: Sendable, Equatable {
        /// The path on the new side and on the old side.
        public var path: String
        public var oldPath: String
        /// The first line on each side, from 1.
        public var oldStart: Int
        public var newStart: Int
        /// Lines that begin with a space, `+` or `-`.
        public var text: String

        public init(path: String, oldPath: String, oldStart: Int, newStart: Int, text: String) {
            self.path = path
            self.oldPath = oldPath
            self.oldStart = oldStart
            self.newStart = newStart
            self.text = text
        }
    }

    /// A line of the head that the forge shows as part of the change.
    public struct Place: Sendable, Equatable, Codable {
        public var path: String
        public var oldPath: String
        /// The line in the head, from 1.
        public var line: Int
        /// The same line where the change began; nil for a line that the change adds or edits.
        public var oldLine: Int?

        public init(path: String, oldPath: String, line: Int, oldLine: Int? = nil) {
            (self.path, self.oldPath, self.line, self.oldLine) = (path, oldPath, line, oldLine)
        }
    }

    private var places: [String: [Int: Place]] = [:]
    private var moves: [String: [Move]] = [:]
    /// Paths after this one may have other line numbers in the head, and nobody knows which.
    private var lastKnownPath: String?

    /// A part of a file that differs between the tested tree and the head.
    private struct Move: Sendable, Equatable {
        var tested: Range<Int>
        /// The line of the head for each line of `tested`; nil for one that the head does not have.
        var lines: [Int?]
        /// What is added to line numbers after this part.
        var shift: Int
    }

    /// - Parameters:
    ///   - change: From the commit where the change began to the head.
    ///   - merge: From the tested tree to the head; empty if they are the same.
    ///   - isMergeCut: Whether `merge` lacks files after its last one, by path.
    public init(change: [Hunk], merge: [Hunk] = [], isMergeCut: Bool = false) {
        for hunk in change {
            var (old, new) = (hunk.oldStart, hunk.newStart)
            for line in hunk.text.split(separator: "\n", omittingEmptySubsequences: false) {
                switch line.utf8.first {
                case UInt8(ascii: "+"):
                    places[hunk.path, default: [:]][new] = Place(path: hunk.path, oldPath: hunk.oldPath, line: new)
                    new += 1
                case UInt8(ascii: " "):
                    places[hunk.path, default: [:]][new] = Place(
                        path: hunk.path, oldPath: hunk.oldPath, line: new, oldLine: old)
                    (old, new) = (old + 1, new + 1)
                default: old += 1
                }
            }
        }
        for hunk in merge {
            var (tested, head) = (hunk.oldStart, hunk.newStart)
            var lines: [Int?] = []
            for line in hunk.text.split(separator: "\n", omittingEmptySubsequences: false) {
                switch line.utf8.first {
                case UInt8(ascii: "+"): head += 1
                case UInt8(ascii: " "):
                    lines.append(head)
                    (tested, head) = (tested + 1, head + 1)
                default:
                    lines.append(nil)
                    tested += 1
                }
            }
            moves[hunk.oldPath, default: []].append(
                Move(tested: hunk.oldStart..<tested, lines: lines, shift: head - tested))
        }
        if isMergeCut { lastKnownPath = merge.last?.oldPath ?? "" }
    }

    /// Whether the change touches the file at all, as far as its forge shows it.
    public func touches(_ path: String) -> Bool { places[path] != nil }

    /// The place in the change of a line of the tested tree; nil for a line that the change does not show.
    public func place(_ path: String, tested line: Int) -> Place? {
        headLine(path, tested: line).flatMap { places[path]?[$0] }
    }

    /// The line of the head that a line of the tested tree came from; nil if it came from the target, or if that is not
    /// known.
    public func headLine(_ path: String, tested line: Int) -> Int? {
        if let lastKnownPath, path >= lastKnownPath { return nil }
        var shift = 0
        for move in moves[path] ?? [] {
            if move.tested.contains(line) { return move.lines[line - move.tested.lowerBound] }
            guard move.tested.upperBound <= line else { break }
            shift = move.shift
        }
        return line + shift
    }
}
