/// The words of a file with their brackets paired and the conditions of `#if` that hold where they stand.
struct SwiftWords: Sendable {
    static let depthLimit = 400
    /// `#if` in `#if`, branches of one, and letters of a condition.
    static let conditionDepth = 32
    static let branchLimit = 64
    static let conditionLength = 512

    let tokens: [SwiftToken]
    /// For an opening bracket the place of its closing one, and the other way round; -1 for other words.
    private(set) var partner: [Int]
    /// For each word an index into ``regions``.
    private(set) var region: [Int]
    /// The conditions around a word, outermost first; an empty one for what always holds.
    private(set) var regions: [[String]] = [[]]
    private var facts: [RegionFacts] = []
    /// Closing brackets that several branches of `#if` opened.
    private(set) var shared: Set<Int> = []

    /// The words without directives, and with what never is compiled left in: its region says so.
    init(_ bytes: [UInt8]) throws(SwiftLexer.Problem) {
        let all = try SwiftLexer.tokens(of: bytes)
        var pairing = Pairing()
        for token in all { try pairing.take(token) }
        try pairing.finish()
        tokens = pairing.tokens
        partner = pairing.partner
        region = pairing.region
        regions = pairing.regions
        shared = pairing.shared
        facts = regions.map(RegionFacts.init)
    }

    /// The conditions at a word.
    func conditions(at index: Int) -> [String] { regions[region[index]] }

    /// Whether what stands there can be compiled at all.
    func isAlive(_ index: Int) -> Bool { !facts[region[index]].isDead }

    /// What is known of the conditions around a word.
    struct RegionFacts: Sendable {
        /// Nothing in it is ever compiled.
        var isDead: Bool
        /// How many of them the build decides.
        var open: Int
        /// In how many it is another branch than the first.
        var alternatives: Int

        init(_ conditions: [String]) {
            isDead = conditions.contains { Condition.value($0) == false }
            open = conditions.count { Condition.value($0) == nil }
            alternatives = conditions.count { $0.hasPrefix("!(") || $0.contains("&&!(") }
        }
    }

    func facts(at index: Int) -> RegionFacts { facts[region[index]] }

    private struct Pairing {
        var tokens: [SwiftToken] = []
        var partner: [Int] = []
        var region: [Int] = []
        var regions: [[String]] = [[]]
        var numbers: [[String]: Int] = [[]: 0]
        var shared: Set<Int> = []
        private var current = 0
        private var open: [Int] = []
        /// Opened in a branch of `#if` whose other branch opens the same: closed with it, by depth.
        private var twins: [Int: [Int]] = [:]
        private var blocks: [Block] = []

        private struct Block {
            var line: Int
            /// What was open where it began, and what the first branch left open.
            var before: [Int]
            var after: [Int]?
            var taken: [String]
            var outer: [String]
        }

        mutating func take(_ token: SwiftToken) throws(SwiftLexer.Problem) {
            if case .directive(let directive) = token.kind { return try take(directive, token) }
            let index = tokens.count
            tokens.append(token)
            partner.append(-1)
            region.append(current)
            guard token.kind == .punctuation else { return }
            switch token.text {
            case "(", "[", "{":
                open.append(index)
                guard open.count <= SwiftWords.depthLimit else {
                    throw SwiftLexer.Problem(
                        line: token.line, message: "brackets are nested more than \(SwiftWords.depthLimit) deep")
                }
            case ")", "]", "}":
                guard let other = open.popLast(), Self.fits(tokens[other].text, token.text) else {
                    throw SwiftLexer.Problem(line: token.line, message: "\"\(token.text)\" has no opening bracket")
                }
                partner[other] = index
                partner[index] = other
                for twin in twins.removeValue(forKey: open.count) ?? [] {
                    partner[twin] = index
                    shared.insert(index)
                }
            default: break
            }
        }

        private mutating func take(_ directive: SwiftToken.Directive, _ token: SwiftToken) throws(SwiftLexer.Problem) {
            switch directive {
            case .if:
                guard blocks.count < SwiftWords.conditionDepth, token.text.utf8.count <= SwiftWords.conditionLength
                else { throw SwiftLexer.Problem(line: token.line, message: "#if is nested too deep, or too long") }
                let outer = regions[current]
                blocks.append(
                    Block(line: token.line, before: open, after: nil, taken: [token.text], outer: outer))
                enter(outer + [token.text])
            case .elseif, .else:
                guard var block = blocks.popLast() else {
                    throw SwiftLexer.Problem(line: token.line, message: "#\(directive.rawValue) has no #if")
                }
                guard block.taken.count < SwiftWords.branchLimit, token.text.utf8.count <= SwiftWords.conditionLength
                else {
                    throw SwiftLexer.Problem(line: token.line, message: "#if has too many branches, or too long ones")
                }
                leave(&block)
                let others = block.taken.map { "!(\($0))" }.joined(separator: "&&")
                enter(block.outer + [directive == .else ? others : "(\(token.text))&&\(others)"])
                block.taken.append(token.text)
                blocks.append(block)
            case .endif:
                guard var block = blocks.popLast() else {
                    throw SwiftLexer.Problem(line: token.line, message: "#endif has no #if")
                }
                leave(&block)
                open = block.after ?? block.before
                enter(block.outer)
            }
        }

        private mutating func leave(_ block: inout Block) {
            if let first = block.after {
                for (depth, index) in open.enumerated() where depth < first.count && first[depth] != index {
                    twins[depth, default: []].append(index)
                }
            } else {
                block.after = open
            }
            open = block.before
        }

        private mutating func enter(_ conditions: [String]) {
            let known = numbers[conditions]
            current = known ?? regions.count
            if known == nil {
                regions.append(conditions)
                numbers[conditions] = current
            }
        }

        mutating func finish() throws(SwiftLexer.Problem) {
            if let block = blocks.last { throw SwiftLexer.Problem(line: block.line, message: "#if is not ended") }
            guard let last = open.last else {
                for index in partner.indices where partner[index] < 0 && ["(", "[", "{"].contains(tokens[index].text) {
                    guard tokens[index].kind == .punctuation else { continue }
                    throw SwiftLexer.Problem(line: tokens[index].line, message: "a bracket is not closed")
                }
                return
            }
            throw SwiftLexer.Problem(line: tokens[last].line, message: "\"\(tokens[last].text)\" is not closed")
        }

        private static func fits(_ open: String, _ close: String) -> Bool {
            switch open {
            case "(": close == ")"
            case "[": close == "]"
            default: close == "}"
            }
        }
    }
}
