/// What a test checks, as far as its source shows it. A change must not reduce this without a person's approval.
package struct TestShape: Sendable, Equatable, Codable {
    package enum Framework: String, Sendable, Equatable, Codable { case swiftTesting, xcTest, other }

    package var framework: Framework
    /// The types around it, outermost first, joined by dots.
    package var suite: String
    package var name: String
    /// The path in the repository. The reader does not know it; the caller sets it.
    package var file: String
    /// The line of its declaration, from 1.
    package var line: Int
    /// Why it may not run, as the source has it: `.disabled("slow")`, `XCTSkip`.
    package var skips: [String] = []
    /// A base class, direct or inherited, that is declared in none of the sources.
    package var unknownBase: String?
    /// Conditions of `#if` around it.
    package var conditions: [String] = []
    /// The number of cases that its arguments give; nil if it takes none or they can't be counted.
    package var cases: Int?
    package var hasArguments = false
    package var body = BodyShape()
    /// The words of its arguments and body, which identify the test under another name.
    package var words: WordBag = WordBag([])

    package init(framework: Framework, suite: String, name: String, file: String = "", line: Int) {
        self.framework = framework
        self.suite = suite
        self.name = name
        self.file = file
        self.line = line
    }

    /// The words of its name, to match names that have them in another order.
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

    /// `Suite.test`, as a person would look for it.
    var title: String { suite.isEmpty ? name : "\(suite).\(name)" }

    /// The name without its style: `testFooBar`, `test_foo_bar` and `fooBar` are equal.
    var plainName: String {
        var text = name.lowercased().filter { $0.isLetter || $0.isNumber }
        if text.hasPrefix("test"), text.count > 4 { text.removeFirst(4) }
        return text
    }
}

/// What is asserted in a body.
package struct BodyShape: Sendable, Equatable, Codable {
    package var assertions: [Assertion] = []
    /// Called names that may be helpers with assertions of their own.
    package var calls: [Call] = []
    /// Lines of calls that wait for a fixed time.
    package var sleeps: [Int] = []
    /// Numbers that bound a deviation or a duration.
    package var tolerances: [Tolerance] = []
    /// The number of `try` expressions whose error ends the test.
    package var tries = 0
    /// Lines of `try?` and of empty `catch` blocks, which hide errors.
    package var swallowed: [Int] = []
    /// Lines of `XCTFail` and `Issue.record`.
    package var failures: [Int] = []

    package init() {}

    /// Whether it neither asserts anything nor calls a function that might.
    package var isEmpty: Bool {
        assertions.isEmpty && failures.isEmpty && sleeps.isEmpty && tolerances.isEmpty
            && !calls.contains { Assertion.isAsserting($0.name) }
    }

    package struct Call: Sendable, Equatable, Codable {
        package var name: String
        package var line: Int
        /// How often it is called; in loops multiplied by the number of rounds, if that can be counted.
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
    /// How precisely it fixes a value.
    package enum Strength: Int, Sendable, Comparable, Codable {
        /// It is true whatever the code does.
        case none
        /// A value exists, or nothing is thrown.
        case presence
        /// A comparison, a condition, or any error.
        case condition
        /// One exact value.
        case value

        package static func < (one: Strength, other: Strength) -> Bool { one.rawValue < other.rawValue }
    }

    package var strength: Strength
    package var line: Int
    /// How often it is made; in loops multiplied by the number of rounds, if that can be counted.
    package var times = 1
    /// Whether the test can end without making it.
    package var isConditional = false
    /// Whether it is in a later branch of `#if`, so that it replaces assertions of the first one.
    package var isAlternative = false
    /// The source without white space, which identifies the same assertion on the other side.
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

    /// Whether it is the name of one of XCTest's assertions.
    package static func isFramework(_ name: String) -> Bool {
        name.hasPrefix("XCTAssert") || name == "XCTFail" || name == "XCTUnwrap"
    }

    /// Whether the name suggests a function that asserts, by the words that are common for them.
    package static func isAsserting(_ name: String) -> Bool {
        let plain = name.lowercased()
        return ["assert", "expect", "verify", "require", "check", "validate", "ensure", "confirm"].contains {
            plain.hasPrefix($0)
        } && !["expectation", "checkedcontinuation", "requirement"].contains(plain)
            || name.hasPrefix("XCTAssert") || name.hasPrefix("AssertEqual")
    }
}
