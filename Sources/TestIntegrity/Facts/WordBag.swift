/// The words of a piece of source, with their counts. Order does not matter, so a renamed or moved test still matches.
package struct WordBag: Sendable, Equatable, Codable {
    private(set) var counts: [String: Int] = [:]
    private(set) var total = 0

    /// Words that every test has; they don't identify one.
    private static let common: Set<String> = [
        "(", ")", "{", "}", "[", "]", ",", ":", ".", ";", "let", "var", "try", "await", "async", "throws", "func",
        "self",
        "return", "XCTAssertEqual", "XCTAssertTrue", "XCTAssertFalse", "XCTAssert", "#expect", "#require", "==", "=",
        "@",
        "Test", "test", "XCTAssertNil", "XCTAssertNotNil", "XCTUnwrap", "nil", "true", "false", "!", "in",
    ]

    package init(_ words: some Sequence<String>) {
        for word in words where !Self.common.contains(word) {
            counts[word, default: 0] += 1
            total += 1
        }
    }

    package init(from decoder: any Decoder) throws {
        counts = try decoder.singleValueContainer().decode([String: Int].self)
        // The answer is untrusted, so the sum may wrap; `isPlausible` checks it later.
        total = counts.values.reduce(0, &+)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(counts)
    }

    /// Whether every count is possible in a file that is read.
    var isPlausible: Bool { counts.values.allSatisfy { (1...ChangedSource.byteLimit).contains($0) } }

    func shared(with other: WordBag) -> Int {
        let (small, large) = counts.count < other.counts.count ? (self, other) : (other, self)
        return small.counts.reduce(0) { $0 + min($1.value, large.counts[$1.key] ?? 0) }
    }

    /// 0 if they have nothing in common, 1 if they are equal.
    func similarity(to other: WordBag) -> Double {
        let all = max(total, other.total)
        return all == 0 ? 0 : Double(shared(with: other)) / Double(all)
    }

    /// The share of its distinct words that `other` has as well, 0 to 1.
    func isContained(in other: Set<String>) -> Double {
        counts.isEmpty ? 0 : Double(counts.keys.count { other.contains($0) }) / Double(counts.count)
    }

    /// The words that occur more often here than in `other`.
    func surplus(over other: WordBag?) -> Set<String> {
        Set(counts.filter { $0.value > (other?.counts[$0.key] ?? 0) }.keys)
    }
}
