import Foundation
import TestBasics
import TestSupport

/// One input. If it was grown by repeating a part, also the same with a quarter of the repetitions: an input that takes
/// much more than four times as long shows that the code is not linear.
struct FuzzInput {
    var bytes: [UInt8]
    var quarter: [UInt8]?
}

/// Makes inputs from a corpus, as a pure function of the random numbers.
struct Mutator {
    private let corpus: [[UInt8]]
    private let trees: [JSONTree]
    private let words: [[UInt8]]
    private let limit: Int

    init(corpus: [[UInt8]], words: [String], isJSON: Bool, limit: Int) {
        self.corpus = corpus
        self.words = Hostile.words + words.map { Array($0.utf8) }
        self.limit = limit
        trees = isJSON ? corpus.compactMap { try? JSONDecoder().decode(JSONTree.self, from: Data($0)) } : []
    }

    func input(_ random: inout SplitMix64) -> FuzzInput {
        var bytes: [UInt8] = []
        if !trees.isEmpty && !random.once(in: 4) {
            var tree = random.pick(trees)
            let texts = tree.texts
            for _ in 0..<(1 + random.below(6)) { tree = tree.mutated(&random, texts: texts) }
            tree.print(to: &bytes)
            if !random.once(in: 6) { return FuzzInput(bytes: cut(bytes)) }
        } else if random.once(in: 50) {
            bytes = (0..<random.below(512)).map { _ in UInt8.random(in: 0...255, using: &random) }
        } else {
            bytes = random.pick(corpus)
        }
        if random.once(in: 40) { return grown(bytes, &random) }
        for _ in 0..<(1 + random.below(1 << random.below(5))) { mutate(&bytes, &random) }
        return FuzzInput(bytes: cut(bytes))
    }

    private func cut(_ bytes: [UInt8]) -> [UInt8] { bytes.count > limit ? Array(bytes[..<limit]) : bytes }

    /// Repeats a part of the input, or one or two keywords of the format.
    private func grown(_ bytes: [UInt8], _ random: inout SplitMix64) -> FuzzInput {
        let at = random.below(bytes.count + 1)
        let end = min(bytes.count, at + 1 + random.below(1 << random.below(9)))
        var part = Array(bytes[at..<end])
        if part.isEmpty || random.once(in: 2) {
            part = random.pick(words) + (random.once(in: 2) ? random.pick(words) : [])
        }
        guard !part.isEmpty else { return FuzzInput(bytes: bytes) }
        let room = max(min(1 << (10 + random.below(11)), limit) - bytes.count, 4 * part.count)
        func repeated(_ count: Int) -> [UInt8] {
            Array(bytes[..<at]) + Array(repeatElement(part, count: count).joined()) + Array(bytes[at...])
        }
        let count = room / part.count
        return FuzzInput(bytes: repeated(count), quarter: repeated(count / 4))
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix64) {
        guard !bytes.isEmpty else {
            bytes = random.pick(words)
            return
        }
        let at = random.below(bytes.count)
        let end = min(bytes.count, at + 1 + random.below(1 << random.below(8)))
        switch random.below(12) {
        case 0: bytes[at] ^= 1 << UInt8(random.below(8))
        case 1: bytes[at] = UInt8.random(in: 0...255, using: &random)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: at)
        case 3: bytes.removeSubrange(at..<end)
        case 4: if random.once(in: 3) { bytes.removeSubrange(at...) }
        case 5: bytes.insert(contentsOf: bytes[at..<end], at: random.below(bytes.count))
        case 6: bytes.replaceSubrange(at..<end, with: random.pick(words))
        case 7, 8: bytes.insert(contentsOf: random.pick(words), at: at)
        case 9:
            let other = random.pick(corpus)
            bytes = Array(bytes[..<at]) + Array(other[random.below(other.count + 1)...])
        case 10: replaceNumber(&bytes, from: at, &random)
        default: bytes.insert(contentsOf: repeatElement(bytes[at], count: 1 << random.below(12)), at: at)
        }
    }

    /// Replaces the first run of digits from `at` on with a number that overflows something.
    private func replaceNumber(_ bytes: inout [UInt8], from at: Int, _ random: inout SplitMix64) {
        func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
        guard let start = bytes[at...].firstIndex(where: isDigit) else { return }
        let end = bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count
        bytes.replaceSubrange(start..<end, with: Array(random.pick(Hostile.numbers).utf8))
    }
}
