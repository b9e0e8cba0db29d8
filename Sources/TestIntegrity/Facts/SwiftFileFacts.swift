/// What the program `swift-reader` found in one Swift file: plain values, without judgement of the change.
///
/// They come from a process that read foreign text, so ``isPlausible`` is asked before they are used.
public struct SwiftFileFacts: Sendable, Equatable, Codable {
    /// A function beside the tests that asserts something or calls what may.
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

    /// A declared name that may stand in the way of tests elsewhere: one of ``ShadowedNames``.
    package struct Declaration: Sendable, Equatable, Codable {
        /// `func`, `let`, `macro`, `class` and so on; `parameter` for what a closure or function takes.
        package var kind: String
        package var name: String
        /// From 1.
        package var line: Int
        /// Whether no type or body is around it.
        package var isTopLevel: Bool

        package init(kind: String, name: String, line: Int, isTopLevel: Bool) {
            self.kind = kind
            self.name = name
            self.line = line
            self.isTopLevel = isTopLevel
        }
    }

    /// What one declaration or extension says of a class.
    package struct ClassPart: Sendable, Equatable, Codable {
        /// With the types around it, joined by dots.
        package var name: String
        /// What follows its colon; of names with dots the last part.
        package var bases: [String]
        /// Why tests of the class, or of one below it, do not run or can't fail.
        package var skips: [String] = []

        package init(name: String, bases: [String]) {
            self.name = name
            self.bases = bases
        }
    }

    /// A test target of a `Package.swift`, as far as it is written as literals.
    package struct TestTarget: Sendable, Equatable, Codable {
        package var name: String
        /// Relative to the package; nil where it is not written.
        package var path: String?
        package var exclude: [String] = []
        /// Nil for everything below its folder.
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
    /// More is counted as so many: rounds of a loop, cases of a test. Nobody needs to know the difference.
    package static let countLimit = 1_000_000

    /// Whether the numbers are such as a file can have; sums and products of them do not overflow.
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
