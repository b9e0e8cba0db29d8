/// A version that can be compared: numbers with dots, and what semver.org allows after them. A leading `v` is passed
/// over.
package struct OrderedVersion: Sendable, Comparable, CustomStringConvertible {
    private let numbers: [Int]
    private let preRelease: [Substring]
    package let description: String

    /// Nil for a text that has no order.
    package init?(_ text: String) {
        description = text
        guard text.utf8.count <= 200, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let core = (text.hasPrefix("v") ? text.dropFirst() : text[...]).split(
            separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = core.first else { return nil }
        let parts = first.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = parts[0].split(separator: ".", omittingEmptySubsequences: false)
        let numbers = fields.compactMap(Self.number)
        guard numbers.count == fields.count, (1...6).contains(numbers.count) else { return nil }
        self.numbers = numbers
        preRelease = parts.count == 1 ? [] : parts[1].split(separator: ".", omittingEmptySubsequences: false)
        guard !preRelease.contains(where: \.isEmpty) else { return nil }
    }

    /// Whether it is a candidate, as `1.0-rc.1` is. A part of digits alone may be a date or the revision of a package.
    package var isCandidate: Bool { preRelease.contains { $0.contains(where: \.isLetter) } }

    private static func number(_ text: Substring) -> Int? {
        (1...9).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    package static func == (one: Self, other: Self) -> Bool { !(one < other) && !(other < one) }

    package static func < (one: Self, other: Self) -> Bool {
        for index in 0..<max(one.numbers.count, other.numbers.count) {
            let (a, b) = (one.number(at: index), other.number(at: index))
            if a != b { return a < b }
        }
        // 1.0-beta comes before 1.0.
        if one.preRelease.isEmpty || other.preRelease.isEmpty {
            return !one.preRelease.isEmpty && other.preRelease.isEmpty
        }
        for (a, b) in zip(one.preRelease, other.preRelease) where a != b {
            switch (number(a), number(b)) {
            case (let a?, let b?): if a != b { return a < b }
            case (_?, nil): return true
            case (nil, _?): return false
            case (nil, nil): return a.utf8.lexicographicallyPrecedes(b.utf8)
            }
        }
        return one.preRelease.count < other.preRelease.count
    }

    private func number(at index: Int) -> Int { index < numbers.count ? numbers[index] : 0 }
}
