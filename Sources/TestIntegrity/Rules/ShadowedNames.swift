/// Declarations that tests may use instead of what XCTest or Swift Testing has under the same name.
///
/// A test finds such a name in its own module, and in a module of the package that it imports, before that of the
/// framework; it then asserts whatever the declaration does.
package struct ShadowedNames {
    /// Of the frameworks, what tests call or derive from.
    static let all: Set<String> = [
        "XCTAssert", "XCTAssertEqual", "XCTAssertNotEqual", "XCTAssertTrue", "XCTAssertFalse", "XCTAssertNil",
        "XCTAssertNotNil", "XCTAssertThrowsError", "XCTAssertNoThrow", "XCTAssertGreaterThan",
        "XCTAssertGreaterThanOrEqual", "XCTAssertLessThan", "XCTAssertLessThanOrEqual", "XCTAssertIdentical",
        "XCTAssertNotIdentical", "XCTFail", "XCTUnwrap", "XCTSkip", "XCTSkipIf", "XCTSkipUnless", "XCTExpectFailure",
        "XCTestCase", "withKnownIssue", "confirmation",
    ]
    /// Names that others use as well; only a macro of that name takes the framework's place.
    static let macros: Set<String> = ["expect", "require", "Test", "Suite"]
    /// Operators that assertions compare with; of a type they are its own, beside tests they may be anybody's.
    static let operators: Set<String> = ["==", "!=", "<", ">", "<=", ">=", "===", "!==", "~=", "&&", "||", "!"]

    /// Whether a declaration of this name is of interest at all.
    package static func isWatched(_ name: String) -> Bool {
        all.contains(name) || macros.contains(name) || operators.contains(name)
    }

    /// A file of the change, on both sides.
    struct File {
        var path: String
        var old: SwiftFileFacts?
        var new: SwiftFileFacts?
    }

    /// Names that are declared more often than on the target, each where it is new.
    static func breaches(of files: [File]) -> [Breach] {
        let before = counts(files.flatMap { own(of: $0.old, $0.path) })
        let after = counts(files.flatMap { own(of: $0.new, $0.path) })
        return files.flatMap { file -> [Breach] in
            var known = counts(own(of: file.old, file.path))
            return own(of: file.new, file.path).compactMap { one in
                // What only moved from file to file is as it was.
                guard after[one.name, default: 0] > before[one.name, default: 0] else { return nil }
                if let left = known[one.name], left > 0 {
                    known[one.name] = left - 1
                    return nil
                }
                return Breach(
                    .weakerTest, .unclear, test: one.name,
                    message:
                        "\(one.name) is declared here as a \(one.kind): tests may use it instead of the framework's",
                    file: file.path, line: one.line)
            }
        }
    }

    private static func own(of facts: SwiftFileFacts?, _ path: String) -> [SwiftFileFacts.Declaration] {
        (facts?.declarations ?? []).filter { one in
            switch one.kind {
            case "macro": all.contains(one.name) || macros.contains(one.name)
            // A member of a type is called through that, but for types, from which tests derive.
            case "func" where operators.contains(one.name): one.isTopLevel && TestPaths.isTest(path)
            default: all.contains(one.name)
            }
        }
    }

    private static func counts(_ declarations: [SwiftFileFacts.Declaration]) -> [String: Int] {
        declarations.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }
}
