/// What a test promises, as far as its source says it: what must not get less without a person's word.
package struct TestShape: Sendable, Equatable, Codable {
    package enum Framework: String, Sendable, Equatable, Codable { case swiftTesting, xcTest, other }

    package var framework: Framework
    /// The types around it, outermost first, joined by dots.
    package var suite: String
    package var name: String
    /// The path in the repository; whoever knows it sets it.
    package var file: String
    /// Of its declaration, from 1.
    package var line: Int
    /// Why it may not run, as written: `.disabled("slow")`, `XCTSkip`.
    package var skips: [String] = []
    /// The base of its class, or of a class that this derives from, that is not among the sources.
    package var unknownBase: String?
    /// Conditions of `#if` around it.
    package var conditions: [String] = []
    /// How many cases its arguments make; nil where that can't be counted or it takes none.
    package var cases: Int?
    package var hasArguments = false
    package var body = BodyShape()
    /// The words of arguments and body, to know it again under another name.
    package var words: WordBag = WordBag([])

    package init(framework: Framework, suite: String, name: String, file: String = "", line: Int) {
        self.framework = framework
        self.suite = suite
        self.name = name
        self.file = file
        self.line = line
    }

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
package struct BodyShape: Sendable, Equatable, Codable {
    package var assertions: [Assertion] = []
    /// Names that are called and could be helpers with assertions of their own.
    package var calls: [Call] = []
    /// Calls that wait for a time: each by its line.
    package var sleeps: [Int] = []
    /// Numbers that say how much may differ or how long something may take.
    package var tolerances: [Tolerance] = []
    /// `try` that a test ends with when it throws.
    package var tries = 0
    /// `try?` and empty `catch`: errors that nobody sees.
    package var swallowed: [Int] = []
    /// Lines of `XCTFail` and `Issue.record`.
    package var failures: [Int] = []

    package init() {}

    /// Whether it neither asserts nor calls anything that might.
    package var isEmpty: Bool {
        assertions.isEmpty && failures.isEmpty && sleeps.isEmpty && tolerances.isEmpty
            && !calls.contains { Assertion.isAsserting($0.name) }
    }

    package struct Call: Sendable, Equatable, Codable {
        package var name: String
        package var line: Int
        /// How often it is done, loops with counted rounds multiplied.
        package var times: Int
        package var isConditional: Bool

        package init(name: String, line: Int, times: Int, isConditional: Bool) {
            self.name = name
            self.line = line
            self.times = times
            self.isConditional = isConditional
        }
    }

    package struct Tolerance: Sendable, Equatable, Codable {
        package var label: String
        package var value: Double
        package var line: Int

        package init(label: String, value: Double, line: Int) {
            self.label = label
            self.value = value
            self.line = line
        }
    }
}

/// One assertion as it is written.
package struct Assertion: Sendable, Equatable, Codable {
    /// How much of a value it pins down.
    package enum Strength: Int, Sendable, Comparable, Codable {
        /// True whatever the code does.
        case none
        /// That there is something, or that nothing is thrown.
        case presence
        /// A comparison, a condition, some error.
        case condition
        /// One value.
        case value

        package static func < (one: Strength, other: Strength) -> Bool { one.rawValue < other.rawValue }
    }

    package var strength: Strength
    package var line: Int
    /// How often it is made, loops with counted rounds multiplied.
    package var times = 1
    /// Whether the test can come to its end without it.
    package var isConditional = false
    /// Whether it stands in another branch of `#if` than the first: it is made instead of those there.
    package var isAlternative = false
    /// Without white space; to find the same assertion again.
    package var text: String

    package init(strength: Strength, line: Int, text: String) {
        self.strength = strength
        self.line = line
        self.text = text
    }
}

extension Assertion {
    package static func isMacro(_ name: String) -> Bool {
        name.hasPrefix("#expect") || name.hasPrefix("#require") || name.hasPrefix("#assert")
    }

    /// Assertions of XCTest, by their names.
    package static func isFramework(_ name: String) -> Bool {
        name.hasPrefix("XCTAssert") || name == "XCTFail" || name == "XCTUnwrap"
    }

    /// Names of functions that assert, in the words that people use for them.
    package static func isAsserting(_ name: String) -> Bool {
        let plain = name.lowercased()
        return ["assert", "expect", "verify", "require", "check", "validate", "ensure", "confirm"].contains {
            plain.hasPrefix($0)
        } && !["expectation", "checkedcontinuation", "requirement"].contains(plain)
            || name.hasPrefix("XCTAssert") || name.hasPrefix("AssertEqual")
    }
}
