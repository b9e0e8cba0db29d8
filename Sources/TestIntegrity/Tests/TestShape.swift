/// What a test promises, as far as its source says it: what must not get less without a person's word.
struct TestShape: Sendable, Equatable {
    enum Framework: Sendable, Equatable { case swiftTesting, xcTest, other }

    var framework: Framework
    /// The types around it, outermost first, joined by dots.
    var suite: String
    var name: String
    var file: String
    /// Of its declaration, from 1.
    var line: Int
    /// Why it may not run, as written: `.disabled("slow")`, `XCTSkip`.
    var skips: [String] = []
    /// The base of its class, or of a class that this derives from, that is not among the sources.
    var unknownBase: String?
    /// Conditions of `#if` around it.
    var conditions: [String] = []
    /// How many cases its arguments make; nil where that can't be counted or it takes none.
    var cases: Int?
    var hasArguments = false
    var body = BodyShape()
    /// The words of arguments and body, to know it again under another name.
    var words: WordBag = WordBag([])

    /// The words of its name, for names that say the same in another order.
    var nameWords: Set<String> {
        var words: [String] = []
        var isUpper = true
        for character in name {
            if !character.isLetter && !character.isNumber {
                isUpper = true
                continue
            }
            if character.isUppercase || isUpper || words.isEmpty { words.append("") }
            words[words.count - 1] += character.lowercased()
            isUpper = false
        }
        return Set(words).subtracting(["test", "tests"])
    }

    /// `Suite.test`, as a person looks for it.
    var title: String { suite.isEmpty ? name : "\(suite).\(name)" }

    /// What stays of a name across renames of style: `testFooBar`, `test_foo_bar` and `fooBar` are one.
    var plainName: String {
        var text = name.lowercased().filter { $0.isLetter || $0.isNumber }
        if text.hasPrefix("test"), text.count > 4 { text.removeFirst(4) }
        return text
    }
}

/// What is asserted in a body.
struct BodyShape: Sendable, Equatable {
    var assertions: [Assertion] = []
    /// Names that are called and could be helpers with assertions of their own.
    var calls: [Call] = []
    /// Calls that wait for a time: each by its line.
    var sleeps: [Int] = []
    /// Numbers that say how much may differ or how long something may take.
    var tolerances: [Tolerance] = []
    /// `try` that a test ends with when it throws.
    var tries = 0
    /// `try?` and empty `catch`: errors that nobody sees.
    var swallowed: [Int] = []
    /// Lines of `XCTFail` and `Issue.record`.
    var failures: [Int] = []

    struct Call: Sendable, Equatable {
        var name: String
        var line: Int
        /// How often it is done, loops with counted rounds multiplied.
        var times: Int
        var isConditional: Bool
    }

    struct Tolerance: Sendable, Equatable {
        var label: String
        var value: Double
        var line: Int
    }
}

/// One assertion as it is written.
struct Assertion: Sendable, Equatable {
    /// How much of a value it pins down.
    enum Strength: Int, Sendable, Comparable {
        /// True whatever the code does.
        case none
        /// That there is something, or that nothing is thrown.
        case presence
        /// A comparison, a condition, some error.
        case condition
        /// One value.
        case value

        static func < (one: Strength, other: Strength) -> Bool { one.rawValue < other.rawValue }
    }

    var strength: Strength
    var line: Int
    /// How often it is made, loops with counted rounds multiplied.
    var times = 1
    /// Whether the test can come to its end without it.
    var isConditional = false
    /// Whether it stands in another branch of `#if` than the first: it is made instead of those there.
    var isAlternative = false
    /// Without white space; to find the same assertion again.
    var text: String
}
