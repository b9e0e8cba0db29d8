/// Declarations that shadow a name of XCTest or Swift Testing.
///
/// A test finds a name in its own module, and in imported modules of its package, before the framework's. It then calls
/// whatever the declaration does.
package struct ShadowedNames {
    /// The frameworks' names that tests call or derive from.
    static let all: Set<String> = [
        "XCTAssert", "XCTAssertEqual", "XCTAssertNotEqual", "XCTAssertTrue", "XCTAssertFalse", "XCTAssertNil",
        "XCTAssertNotNil", "XCTAssertThrowsError", "XCTAssertNoThrow", "XCTAssertGreaterThan",
        "XCTAssertGreaterThanOrEqual", "XCTAssertLessThan", "XCTAssertLessThanOrEqual", "XCTAssertIdentical",
        "XCTAssertNotIdentical", "XCTFail", "XCTUnwrap", "XCTSkip", "XCTSkipIf", "XCTSkipUnless", "XCTExpectFailure",
        "XCTestCase", "withKnownIssue", "confirmation",
    ]
    /// Names that are common elsewhere; only a macro with such a name shadows the framework's.
    static let macros: Set<String> = ["expect", "require", "Test", "Suite"]
    /// Operators in assertions. One that is a member of a type belongs to that type; one in a test file may apply to
    /// any.
    static let operators: Set<String> = ["==", "!=", "<", ">", "<=", ">=", "===", "!==", "~=", "&&", "||", "!"]

    /// Whether a declaration with this name may shadow one of the framework's.
    package static func isWatched(_ name: String) -> Bool {
        all.contains(name) || macros.contains(name) || operators.contains(name)
    }

    /// A file of the change, on both sides.
    struct File {
        var path: String
        var old: SwiftFileFacts?
        var new: SwiftFileFacts?
    }

    /// Reports names that are declared more often than on the target, at each new place.
    static func breaches(of files: [File]) -> [Breach] {
        let before = counts(files.flatMap { own(of: $0.old, $0.path) })
        let after = counts(files.flatMap { own(of: $0.new, $0.path) })
        return files.flatMap { file -> [Breach] in
            var known = counts(own(of: file.old, file.path))
            return own(of: file.new, file.path).compactMap { one in
                // A declaration that only moved between files is not new.
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
            // Members of a type are called through it and shadow nothing, except nested types: tests may derive from
            // these.
            case "func" where operators.contains(one.name): one.isTopLevel && TestPaths.isTest(path)
            default: all.contains(one.name)
            }
        }
    }

    private static func counts(_ declarations: [SwiftFileFacts.Declaration]) -> [String: Int] {
        declarations.reduce(into: [:]) { $0[$1.name, default: 0] += 1 }
    }
}
