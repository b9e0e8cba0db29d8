/// A pattern for slash-separated paths and names.
///
/// `*` and `?` match within a segment, `**` matches across segments. `[a-z]` and `[!a-z]` are classes, `{a,b}` are
/// alternatives, and `\` takes the next character literally.
///
/// Characters are Unicode scalars, as in Git and the file system: a combining character after a slash does not hide the
/// slash. For each path segment the time is linear in the pattern, so a hostile path or pattern can't take long.
public struct Glob: Sendable, Equatable {
    /// The pattern as it was written.
    public let pattern: String

    private let alternatives: [[Segment]]

    /// The longest pattern, in bytes, that is accepted.
    static let lengthLimit = 1_024
    static let alternativesLimit = 256

    /// Reads a pattern.
    ///
    /// - Throws: ``GlobProblem`` for an empty pattern, an absolute one, one with `..`, an open `[` or `{`.
    public init(_ pattern: String) throws(GlobProblem) {
        self.pattern = pattern
        func refuse(_ reason: String) -> GlobProblem { GlobProblem(pattern: pattern, reason: reason) }
        guard !pattern.isEmpty else { throw refuse("it is empty") }
        guard pattern.utf8.count <= Glob.lengthLimit else {
            throw refuse("it is longer than \(Glob.lengthLimit) bytes")
        }
        guard !pattern.hasPrefix("/") else { throw refuse("it starts with /; paths are relative to the workspace") }
        var alternatives: [[Segment]] = []
        for text in try Glob.expandingBraces(Array(pattern.unicodeScalars), refuse) {
            var segments: [Segment] = []
            for part in text.split(separator: "/", omittingEmptySubsequences: true) {
                if part == ["."] { continue }
                if part == [".", "."] { throw refuse("it contains ..; paths stay in the workspace") }
                let segment: Segment =
                    part == ["*", "*"] ? .anyDepth : .tokens(try Glob.tokens(of: Array(part), refuse))
                if segment == .anyDepth && segments.last == .anyDepth { continue }
                segments.append(segment)
            }
            guard !segments.isEmpty else { throw refuse("it names no file") }
            alternatives.append(segments)
        }
        self.alternatives = alternatives
    }

    /// Whether `path` (relative, slash-separated) matches from its start to its end.
    public func matches(_ path: String) -> Bool {
        let parts = Glob.parts(of: path)
        return alternatives.contains { Glob.match($0, parts) }
    }

    /// Whether a path below the folder `path` can match. A walk uses it to decide which folders to enter.
    public func canMatch(below path: String) -> Bool {
        let parts = Glob.parts(of: path)
        return alternatives.contains { segments in
            for (index, part) in parts.enumerated() {
                guard index < segments.count else { return false }
                switch segments[index] {
                case .anyDepth: return true
                case .tokens(let tokens): if !Glob.match(tokens, part) { return false }
                }
            }
            return segments.count > parts.count
        }
    }

    /// Whether the pattern names every segment of the folder `path` itself, without a `**`.
    package func leads(through path: String) -> Bool {
        let parts = Glob.parts(of: path)
        return alternatives.contains { segments in
            segments.count > parts.count
                && zip(segments, parts).allSatisfy { segment, part in
                    if case .tokens(let tokens) = segment { Glob.match(tokens, part) } else { false }
                }
        }
    }

    /// Whether every path below the folder `path` matches.
    package func covers(_ path: String) -> Bool {
        let parts = Glob.parts(of: path)
        return alternatives.contains { $0.last == .anyDepth && Glob.match($0, parts) }
    }

    /// Whether certainly no path matches both patterns. It compares the segments before the first `**`, one by one.
    package func excludes(_ other: Glob) -> Bool {
        alternatives.allSatisfy { one in other.alternatives.allSatisfy { Glob.exclude(one, $0) } }
    }

    private static func exclude(_ one: [Segment], _ two: [Segment]) -> Bool {
        for (left, right) in zip(one, two) {
            guard case .tokens(let left) = left, case .tokens(let right) = right else { return false }
            if let text = text(of: left), !match(right, text) { return true }
            if let text = text(of: right), !match(left, text) { return true }
        }
        return one.count != two.count && !(one + two).contains(.anyDepth)
    }

    /// The text that the tokens stand for; nil if there are several.
    private static func text(of tokens: [Token]) -> [Unicode.Scalar]? {
        let text = tokens.compactMap { if case .character(let scalar) = $0 { scalar } else { nil } }
        return text.count == tokens.count ? text : nil
    }

    private static func parts(of path: String) -> [[Unicode.Scalar]] {
        path.unicodeScalars.split(separator: "/").map { Array($0) }
    }

    private enum Segment: Sendable, Equatable {
        case anyDepth
        case tokens([Token])
    }

    private enum Token: Sendable, Equatable {
        case character(Unicode.Scalar)
        case one
        case many
        case set([ClosedRange<Unicode.Scalar>], negated: Bool)
    }

    private static func expandingBraces(
        _ text: [Unicode.Scalar], _ refuse: (String) -> GlobProblem
    ) throws(GlobProblem) -> [[Unicode.Scalar]] {
        var results: [[Unicode.Scalar]] = []
        var waiting = [text]
        while let next = waiting.popLast() {
            guard let (open, close, commas) = try firstBrace(in: next, refuse) else {
                results.append(next)
                continue
            }
            let ends = commas + [close]
            var start = open + 1
            for end in ends {
                waiting.append(Array(next[..<open] + next[start..<end] + next[(close + 1)...]))
                start = end + 1
            }
            guard waiting.count + results.count <= alternativesLimit else {
                throw refuse("its { } make more than \(alternativesLimit) alternatives")
            }
        }
        return results
    }

    private static func firstBrace(
        in text: [Unicode.Scalar], _ refuse: (String) -> GlobProblem
    ) throws(GlobProblem) -> (open: Int, close: Int, commas: [Int])? {
        var open: Int?
        var depth = 0
        var commas: [Int] = []
        var index = 0
        while index < text.count {
            switch text[index] {
            case "\\": index += 1
            case "{":
                if open == nil { open = index }
                depth += 1
            case ",": if depth == 1 { commas.append(index) }
            case "}":
                guard depth > 0 else { break }
                depth -= 1
                if depth == 0, let open { return (open, index, commas) }
            default: break
            }
            index += 1
        }
        if open != nil { throw refuse("a { is not closed; write \\{ for the character itself") }
        return nil
    }

    private static func tokens(
        of text: [Unicode.Scalar], _ refuse: (String) -> GlobProblem
    ) throws(GlobProblem) -> [Token] {
        var tokens: [Token] = []
        var index = 0
        while index < text.count {
            let character = text[index]
            index += 1
            switch character {
            case "*": if tokens.last != .many { tokens.append(.many) }
            case "?": tokens.append(.one)
            case "\\":
                guard index < text.count else { throw refuse("it ends with a single \\") }
                tokens.append(.character(text[index]))
                index += 1
            case "[":
                let negated = index < text.count && (text[index] == "!" || text[index] == "^")
                if negated { index += 1 }
                // A ] that comes first belongs to the class.
                guard let end = text[min(index + 1, text.count)...].firstIndex(of: "]") else {
                    throw refuse("a [ is not closed; write \\[ for the character itself")
                }
                let inside = Array(text[index..<end])
                index = end + 1
                var ranges: [ClosedRange<Unicode.Scalar>] = []
                var position = 0
                while position < inside.count {
                    if position + 2 < inside.count, inside[position + 1] == "-" {
                        guard inside[position] <= inside[position + 2] else {
                            throw refuse("the range \(inside[position])-\(inside[position + 2]) runs backwards")
                        }
                        ranges.append(inside[position]...inside[position + 2])
                        position += 3
                    } else {
                        ranges.append(inside[position]...inside[position])
                        position += 1
                    }
                }
                tokens.append(.set(ranges, negated: negated))
            default: tokens.append(.character(character))
            }
        }
        return tokens
    }

    /// Greedy, with one remembered star. It restarts at the last star only, so it never takes exponential time.
    private static func match(_ tokens: [Token], _ text: [Unicode.Scalar]) -> Bool {
        scan(tokens.count, text.count, isMany: { tokens[$0] == .many }) { token, position in
            switch tokens[token] {
            case .character(let wanted): wanted == text[position]
            case .one: true
            case .many: false
            case .set(let ranges, let negated): ranges.contains { $0.contains(text[position]) } != negated
            }
        }
    }

    private static func match(_ segments: [Segment], _ parts: [[Unicode.Scalar]]) -> Bool {
        scan(segments.count, parts.count, isMany: { segments[$0] == .anyDepth }) { segment, position in
            if case .tokens(let tokens) = segments[segment] { match(tokens, parts[position]) } else { false }
        }
    }

    private static func scan(
        _ patternCount: Int, _ textCount: Int, isMany: (Int) -> Bool, _ matchesOne: (Int, Int) -> Bool
    ) -> Bool {
        var pattern = 0
        var position = 0
        var star: (pattern: Int, position: Int)?
        while position < textCount {
            if pattern < patternCount, isMany(pattern) {
                star = (pattern, position)
                pattern += 1
            } else if pattern < patternCount, matchesOne(pattern, position) {
                pattern += 1
                position += 1
            } else if let last = star {
                star = (last.pattern, last.position + 1)
                pattern = last.pattern + 1
                position = last.position + 1
            } else {
                return false
            }
        }
        while pattern < patternCount, isMany(pattern) { pattern += 1 }
        return pattern == patternCount
    }
}

/// Why a pattern can't be used.
public struct GlobProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The pattern as it was written.
    public var pattern: String
    /// The predicate of a sentence about the pattern: "it is empty".
    public var reason: String
    /// The sentence, with the pattern.
    public var description: String { "the pattern \"\(pattern)\" can't be used: \(reason)" }
}
