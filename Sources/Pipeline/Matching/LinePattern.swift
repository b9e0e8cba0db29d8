/// A regular expression for one line of text, searched for in linear time.
///
/// It has what most dialects share: `.`, classes, `\d \w \s \b` and their opposites, `^`, `$`, groups, `|`, the
/// quantifiers `* + ? {2,5}`, and `(?i)` for "upper and lower case alike". Look-around and references to groups are
/// refused, since they need backtracking: whoever writes a line of a change can't make the daemon busy with it.
/// Characters are Unicode scalars.
package struct LinePattern: Sendable, Equatable {
    /// The longest pattern, in bytes, and the most instructions that it may become.
    static let lengthLimit = 1_024
    static let programLimit = 5_000

    /// One instruction of the automaton. The numbers are places in the program.
    enum Instruction: Sendable, Equatable {
        case take(ScalarSet)
        case split(Int, Int)
        case jump(Int)
        case check(Place)
        case match
    }

    /// What must be true of a place between two characters.
    enum Place: Sendable, Equatable {
        case start, end, wordEdge, noWordEdge
    }

    private let program: [Instruction]
    /// Which ASCII characters can begin a match; a match may begin with any other character.
    private let first: [Bool]

    /// Reads a pattern.
    ///
    /// - Throws: ``LinePatternProblem`` for one that can't be read, is too large, or matches every line.
    package init(_ pattern: String) throws(LinePatternProblem) {
        guard pattern.utf8.count <= Self.lengthLimit else {
            throw LinePatternProblem(pattern, "it is longer than \(Self.lengthLimit) bytes")
        }
        var parser = LinePatternParser(pattern)
        var program: [Instruction] = []
        do throws(LinePatternProblem.Reason) {
            try Self.add(try parser.pattern(), to: &program)
        } catch { throw LinePatternProblem(pattern, error.words) }
        program.append(.match)
        self.program = program
        var first = [Bool](repeating: false, count: 128)
        guard Self.findFirst(program, &first) else {
            throw LinePatternProblem(pattern, "every line would match; name some text that must be there")
        }
        self.first = first
    }

    /// Whether the line has a match somewhere.
    ///
    /// - Parameter work: What may be done yet, in visits of instructions. Below 0, the answer says nothing.
    package func matches(_ line: String, work: inout Int) -> Bool {
        let line = Array(line.unicodeScalars)
        var threads: [Int] = []
        var next: [Int] = []
        var seen = [Int](repeating: -1, count: program.count)
        for place in 0...line.count {
            let mayBegin = place == line.count || !line[place].isASCII || first[Int(line[place].value)]
            if mayBegin, enter(0, at: place, of: line, &threads, &seen, &work) { return true }
            guard work >= 0, place < line.count else { break }
            work -= 1
            guard !threads.isEmpty else { continue }
            // The marks of this place end here: those of the next place have its number.
            next.removeAll(keepingCapacity: true)
            for thread in threads {
                work -= 1
                guard case .take(let set) = program[thread], set.contains(line[place]) else { continue }
                if enter(thread + 1, at: place + 1, of: line, &next, &seen, &work) { return true }
            }
            swap(&threads, &next)
        }
        return false
    }

    /// Adds the instructions that take a character and can be reached from `start` without one. Returns whether the
    /// match is among what can be reached.
    private func enter(
        _ start: Int, at place: Int, of line: [Unicode.Scalar], _ threads: inout [Int], _ seen: inout [Int],
        _ work: inout Int
    ) -> Bool {
        var waiting = [start]
        while let number = waiting.popLast() {
            guard seen[number] != place else { continue }
            seen[number] = place
            work -= 1
            switch program[number] {
            case .take: threads.append(number)
            case .split(let one, let other): waiting += [other, one]
            case .jump(let target): waiting.append(target)
            case .check(let wanted): if Self.holds(wanted, place, line) { waiting.append(number + 1) }
            case .match: return true
            }
        }
        return false
    }

    private static func holds(_ wanted: Place, _ place: Int, _ line: [Unicode.Scalar]) -> Bool {
        func isWord(_ index: Int) -> Bool { line.indices.contains(index) && ScalarSet.word.contains(line[index]) }
        switch wanted {
        case .start: return place == 0
        case .end: return place == line.count
        case .wordEdge: return isWord(place - 1) != isWord(place)
        case .noWordEdge: return isWord(place - 1) == isWord(place)
        }
    }

    /// Finds what can begin a match, as if every check held. Returns false if a match needs neither a character nor a
    /// check.
    private static func findFirst(_ program: [Instruction], _ first: inout [Bool]) -> Bool {
        var seen: Set<Int> = []
        var waiting = [(place: 0, isChecked: false)]
        var needsSomething = true
        while let (number, isChecked) = waiting.popLast() {
            guard seen.insert(isChecked ? number + program.count : number).inserted else { continue }
            switch program[number] {
            case .take(let set):
                for value in 0..<128 where set.contains(Unicode.Scalar(UInt8(value))) { first[value] = true }
            case .split(let one, let other): waiting += [(one, isChecked), (other, isChecked)]
            case .jump(let target): waiting.append((target, isChecked))
            case .check: waiting.append((number + 1, true))
            case .match:
                if isChecked { first = [Bool](repeating: true, count: 128) } else { needsSomething = false }
            }
        }
        return needsSomething
    }

    private static func add(
        _ node: LinePatternNode, to program: inout [Instruction]
    ) throws(LinePatternProblem.Reason) {
        guard program.count < programLimit else {
            throw LinePatternProblem.Reason("its repetitions make it too large; write fewer or smaller ones")
        }
        switch node {
        case .empty: break
        case .set(let set): program.append(.take(set))
        case .check(let place): program.append(.check(place))
        case .sequence(let nodes): for node in nodes { try add(node, to: &program) }
        case .either(let nodes):
            var ends: [Int] = []
            for (index, node) in nodes.enumerated() {
                guard index < nodes.count - 1 else {
                    try add(node, to: &program)
                    break
                }
                let split = program.count
                program.append(.split(split + 1, 0))
                try add(node, to: &program)
                ends.append(program.count)
                program.append(.jump(0))
                program[split] = .split(split + 1, program.count)
            }
            for end in ends { program[end] = .jump(program.count) }
        case .repeated(let node, let least, let most):
            for _ in 0..<least { try add(node, to: &program) }
            guard let most else {
                let split = program.count
                program.append(.split(split + 1, 0))
                try add(node, to: &program)
                program.append(.jump(split))
                program[split] = .split(split + 1, program.count)
                return
            }
            var splits: [Int] = []
            for _ in least..<max(most, least) {
                splits.append(program.count)
                program.append(.split(program.count + 1, 0))
                try add(node, to: &program)
            }
            for split in splits { program[split] = .split(split + 1, program.count) }
        }
    }
}

/// Why a regular expression can't be used.
package struct LinePatternProblem: Error, Sendable, Equatable, CustomStringConvertible {
    /// The sentence, with the pattern and what to do.
    package var description: String

    init(_ pattern: String, _ reason: String) {
        description = "the pattern \"\(pattern.prefix(100))\" can't be used: \(reason)"
    }

    struct Reason: Error {
        let words: String
        init(_ words: String) { self.words = words }
    }
}

/// A set of characters.
struct ScalarSet: Sendable, Equatable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false
    var ignoresCase = false
    /// Whether letters beyond ASCII are part of it.
    var hasForeignLetters = false

    static let any = ScalarSet(ranges: [], isNegated: true)
    static let digit = ScalarSet(ranges: [0x30...0x39])
    static let space = ScalarSet(ranges: [0x09...0x0D, 0x20...0x20, 0x85...0x85, 0xA0...0xA0, 0x2000...0x200A])
    static let word = ScalarSet(
        ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A], hasForeignLetters: true)

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        if has(scalar.value) || hasForeignLetters && !scalar.isASCII && scalar.properties.isAlphabetic {
            return !isNegated
        }
        guard ignoresCase else { return isNegated }
        let properties = scalar.properties
        let others = [properties.lowercaseMapping, properties.uppercaseMapping].compactMap { mapping in
            mapping.unicodeScalars.count == 1 ? mapping.unicodeScalars.first : nil
        }
        return others.contains { has($0.value) } != isNegated
    }

    private func has(_ value: UInt32) -> Bool { ranges.contains { $0.contains(value) } }
}
