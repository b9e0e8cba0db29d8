/// What the program `swift-reader` found in one Swift file: plain values that don't judge the change.
///
/// They come from a process that read untrusted text, so check ``isPlausible`` before you use them.
public struct SwiftFileFacts: Sendable, Equatable, Codable {
    /// A function in a test file that asserts something, or calls a function that may.
    package struct Helper: Sendable, Equatable, Codable {
        package var name: String
        /// From 1.
        package var line: Int
        package var body: BodyShape

        package init(name: String, line: Int, body: BodyShape) {
            self.name = name
            self.line = line
            self.body = body
        }
    }

    /// A declaration that may replace a name that tests elsewhere use: one of ``ShadowedNames``.
    package struct Declaration: Sendable, Equatable, Codable {
        /// `func`, `let`, `macro`, `class` and so on; `parameter` for a parameter of a closure or function.
        package var kind: String
        package var name: String
        /// From 1.
        package var line: Int
        /// Whether it is outside of every type and body.
        package var isTopLevel: Bool

        package init(kind: String, name: String, line: Int, isTopLevel: Bool) {
            self.kind = kind
            self.name = name
            self.line = line
            self.isTopLevel = isTopLevel
        }
    }

    /// What one declaration or extension of a class contributes.
    package struct ClassPart: Sendable, Equatable, Codable {
        /// The name, with the enclosing types, joined by dots.
        package var name: String
        /// The inherited types; of a dotted name the last part.
        package var bases: [String]
        /// Why tests of the class, or of its subclasses, do not run or can't fail.
        package var skips: [String] = []

        package init(name: String, bases: [String]) {
            self.name = name
            self.bases = bases
        }
    }

    /// A test target of a `Package.swift`, as far as literals declare it.
    package struct TestTarget: Sendable, Equatable, Codable {
        package var name: String
        /// Relative to the package; nil if the manifest has none.
        package var path: String?
        package var exclude: [String] = []
        /// Nil if all files below the target's folder belong to it.
        package var sources: [String]?
        /// From 1.
        package var line: Int

        package init(name: String, line: Int) {
            self.name = name
            self.line = line
        }
    }

    package var tests: [TestShape] = []
    package var helpers: [Helper] = []
    package var declarations: [Declaration] = []
    package var classes: [ClassPart] = []
    package var testTargets: [TestTarget] = []

    package init() {}
}

extension SwiftFileFacts {
    /// The largest count that is told apart: rounds of a loop, cases of a test. Larger counts become this one.
    package static let countLimit = 1_000_000

    /// Whether all numbers are possible in a real file, so that sums and products of them do not overflow.
    var isPlausible: Bool {
        tests.allSatisfy { test in
            Self.isLine(test.line) && (test.cases.map(Self.isCount) ?? true) && isPlausible(test.body)
                && test.words.isPlausible
        }
            && helpers.allSatisfy { Self.isLine($0.line) && isPlausible($0.body) }
            && declarations.allSatisfy { Self.isLine($0.line) } && testTargets.allSatisfy { Self.isLine($0.line) }
    }

    private func isPlausible(_ body: BodyShape) -> Bool {
        body.assertions.allSatisfy { Self.isLine($0.line) && Self.isCount($0.times) }
            && body.calls.allSatisfy { Self.isLine($0.line) && Self.isCount($0.times) }
            && body.tolerances.allSatisfy { Self.isLine($0.line) && $0.value.isFinite }
            && (body.sleeps + body.swallowed + body.failures).allSatisfy(Self.isLine)
            && (0...ChangedSource.byteLimit).contains(body.tries)
    }

    private static func isLine(_ line: Int) -> Bool { (1...ChangedSource.byteLimit + 1).contains(line) }
    private static func isCount(_ count: Int) -> Bool { (0...countLimit).contains(count) }
}
