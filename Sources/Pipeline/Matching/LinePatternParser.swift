/// A regular expression as a tree.
indirect enum LinePatternNode: Sendable {
    case empty
    case set(ScalarSet)
    case check(LinePattern.Place)
    case sequence([LinePatternNode])
    case either([LinePatternNode])
    /// At most so often; nil: any number of times.
    case repeated(LinePatternNode, least: Int, most: Int?)
}

/// Reads the text of a ``LinePattern``.
struct LinePatternParser {
    typealias Problem = LinePatternProblem.Reason

    private static let depthLimit = 50
    private static let repetitionLimit = 1_000

    private var rest: ArraySlice<Unicode.Scalar>
    private var ignoresCase = false
    private var depth = 0

    init(_ pattern: String) { rest = Array(pattern.unicodeScalars)[...] }

    /// The whole pattern.
    mutating func pattern() throws(Problem) -> LinePatternNode {
        if take("(?i)") { ignoresCase = true }
        let node = try either()
        guard rest.isEmpty else { throw Problem("a ) has no (; write \\) for the character itself") }
        return node
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest = rest.dropFirst(text.unicodeScalars.count)
        return true
    }

    private mutating func either() throws(Problem) -> LinePatternNode {
        var nodes = [try sequence()]
        while take("|") { nodes.append(try sequence()) }
        return nodes.count == 1 ? nodes[0] : .either(nodes)
    }

    private mutating func sequence() throws(Problem) -> LinePatternNode {
        var nodes: [LinePatternNode] = []
        while let next = rest.first, next != "|", next != ")" {
            let node = try atom()
            nodes.append(try repeated(node))
        }
        return nodes.isEmpty ? .empty : nodes.count == 1 ? nodes[0] : .sequence(nodes)
    }

    private mutating func repeated(_ node: LinePatternNode) throws(Problem) -> LinePatternNode {
        let bounds: (least: Int, most: Int?)
        switch rest.first {
        case "*": bounds = (0, nil)
        case "+": bounds = (1, nil)
        case "?": bounds = (0, 1)
        case "{":
            guard let counts = try counts() else { return node }
            return try once(.repeated(node, least: counts.least, most: counts.most))
        default: return node
        }
        rest.removeFirst()
        return try once(.repeated(node, least: bounds.least, most: bounds.most))
    }

    /// Whether a repetition is as short as possible makes no difference here; a second one is a mistake.
    private mutating func once(_ node: LinePatternNode) throws(Problem) -> LinePatternNode {
        _ = take("?")
        var copy = self
        let isCounted = rest.first == "{" ? try copy.counts() != nil : false
        if let next = rest.first, "*+?".unicodeScalars.contains(next) || isCounted {
            throw Problem("\(next) follows a repetition; write \\\(next) for the character itself")
        }
        return node
    }

    /// The counts of `{2}`, `{2,}` and `{2,5}`, which it takes; nil for a brace that is itself.
    private mutating func counts() throws(Problem) -> (least: Int, most: Int?)? {
        guard let end = rest.firstIndex(of: "}") else { return nil }
        let text = String(String.UnicodeScalarView(rest[(rest.startIndex + 1)..<end]))
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty,
            parts.allSatisfy({ $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } })
        else { return nil }
        rest = rest[(end + 1)...]
        let most = parts.count == 1 ? Int(parts[0]) : Int(parts[1])
        guard let least = Int(parts[0]), least <= Self.repetitionLimit, (most ?? least) <= Self.repetitionLimit,
            least <= most ?? least
        else { throw Problem("{\(text.prefix(20))} is no usable count; allowed: up to \(Self.repetitionLimit)") }
        return (least, parts.count == 2 && parts[1].isEmpty ? nil : most)
    }

    private mutating func atom() throws(Problem) -> LinePatternNode {
        guard let next = rest.popFirst() else { return .empty }
        switch next {
        case ".": return .set(.any)
        case "^": return .check(.start)
        case "$": return .check(.end)
        case "(": return try group()
        case "[": return .set(try set())
        case "*", "+", "?": throw Problem("\(next) has nothing to repeat; write \\\(next) for the character itself")
        case "\\":
            switch rest.first {
            case "b": return passing(.check(.wordEdge))
            case "B": return passing(.check(.noWordEdge))
            case "A": return passing(.check(.start))
            case "z": return passing(.check(.end))
            default: return .set(try escaped())
            }
        default: return .set(single(next))
        }
    }

    private mutating func passing(_ node: LinePatternNode) -> LinePatternNode {
        rest.removeFirst()
        return node
    }

    private func single(_ scalar: Unicode.Scalar) -> ScalarSet {
        ScalarSet(ranges: [scalar.value...scalar.value], ignoresCase: ignoresCase)
    }

    private mutating func group() throws(Problem) -> LinePatternNode {
        depth += 1
        guard depth <= Self.depthLimit else { throw Problem("it nests more than \(Self.depthLimit) groups") }
        defer { depth -= 1 }
        let before = ignoresCase
        defer { ignoresCase = before }
        if take("?") {
            if take("i:") {
                ignoresCase = true
            } else if !take(":") {
                throw Problem("(?\(rest.first.map { "\($0)" } ?? "") is not possible here; use ( ), (?: ) or (?i: )")
            }
        }
        let node = try either()
        guard take(")") else { throw Problem("a ( is not closed; write \\( for the character itself") }
        return node
    }

    /// What follows a backslash.
    private mutating func escaped() throws(Problem) -> ScalarSet {
        guard let next = rest.popFirst() else {
            throw Problem("it ends with a single \\; write \\\\ for the character")
        }
        switch next {
        case "d": return .digit
        case "w": return .word
        case "s": return .space
        case "D": return ScalarSet(ranges: ScalarSet.digit.ranges, isNegated: true)
        case "W": return ScalarSet(ranges: ScalarSet.word.ranges, isNegated: true, hasForeignLetters: true)
        case "S": return ScalarSet(ranges: ScalarSet.space.ranges, isNegated: true)
        case "t": return single("\t")
        case "u":
            guard take("{"), let end = rest.firstIndex(of: "}"),
                let value = UInt32(String(String.UnicodeScalarView(rest[..<end])), radix: 16),
                let scalar = Unicode.Scalar(value)
            else { throw Problem("\\u names no character; write \\u{1F600}") }
            rest = rest[(end + 1)...]
            return single(scalar)
        default:
            let isWord = ScalarSet.word.contains(next) && next != "_"
            guard !isWord else {
                throw Problem(
                    "\\\(next) is not possible here, where a line is searched once from left to right; "
                        + "use \\d \\w \\s \\b \\t or the character itself")
            }
            return single(next)
        }
    }

    /// A class, after its `[`.
    private mutating func set() throws(Problem) -> ScalarSet {
        var set = ScalarSet(ranges: [], isNegated: take("^"), ignoresCase: ignoresCase)
        var isFirst = true
        while true {
            guard let next = rest.popFirst() else {
                throw Problem("a [ is not closed; write \\[ for the character itself")
            }
            if next == "]", !isFirst { return set }
            isFirst = false
            if next == "[" { throw Problem("a [ is in a class; write \\[ for the character itself") }
            guard let low = try member(next, &set) else { continue }
            guard rest.first == "-", rest.dropFirst().first != "]" else {
                set.ranges.append(low.value...low.value)
                continue
            }
            rest.removeFirst()
            guard let last = rest.popFirst(), let high = try member(last, &set), low <= high else {
                throw Problem("a range in [ ] runs backwards or has no end; write \\- for the character itself")
            }
            set.ranges.append(low.value...high.value)
        }
    }

    /// One character of a class; nil if it was a class of its own, which is part of `set` then.
    private mutating func member(_ next: Unicode.Scalar, _ set: inout ScalarSet) throws(Problem) -> Unicode.Scalar? {
        guard next == "\\" else { return next }
        let escaped = try escaped()
        if !escaped.isNegated, escaped.ranges.count == 1, escaped.ranges[0].count == 1 {
            return Unicode.Scalar(escaped.ranges[0].lowerBound)
        }
        guard !escaped.isNegated else { throw Problem("\\D, \\W and \\S are not possible in [ ]; use [^\\d]") }
        set.ranges += escaped.ranges
        set.hasForeignLetters = set.hasForeignLetters || escaped.hasForeignLetters
        return nil
    }
}
