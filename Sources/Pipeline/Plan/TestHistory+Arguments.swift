/// The tests as arguments of the tools that run them. Each element is one argument, for `Step(…, command:)`.
///
/// Tests that the tool can't select are left out. An empty list gives no arguments, which most tools read as "all
/// tests".
extension [KnownTest] {
    /// `--filter EXPRESSION` of `swift test`, for XCTest and Swift Testing.
    public var swiftTestArguments: [String] {
        let patterns = compactMap { test -> String? in
            guard let suite = test.suite.pathPattern, test.isSayable else { return nil }
            // Swift Testing reports a test under its display name if it has one. Then only its suite can be named.
            guard let name = test.name.functionName else { return "^\(suite)[./]" }
            return "^\(suite)[./]\(name.regexEscaped)($|[/(])"
        }
        return patterns.isEmpty ? [] : ["--filter", patterns.uniqued.joined(separator: "|")]
    }

    /// Node ids for `pytest`: `tests/test_types.py::TestPath::test_suffix[a-b]`.
    ///
    /// Where the results name no file (`junit_family=xunit2`), the file is derived from the module's name. pytest
    /// refuses to run at all when one of the ids no longer exists.
    public var pytestArguments: [String] {
        compactMap { test -> String? in
            guard test.isSayable else { return nil }
            var parts = test.suite.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            let file: String
            if let known = test.file, known.hasSuffix(".py") {
                file = known
                let module = known.dropLast(3).split(separator: "/").map(String.init)
                // The class names follow the module's name. Results may lack the first parts of the module's name.
                let shared = (1...module.count).reversed().first { parts.starts(with: module.suffix($0)) } ?? 0
                parts.removeFirst(shared)
            } else {
                guard let end = parts.firstIndex(where: { $0.hasPrefix("test_") || $0.hasSuffix("_test") }) else {
                    return nil
                }
                file = parts[...end].joined(separator: "/") + ".py"
                parts.removeFirst(end + 1)
            }
            // Text that begins with a dash would be read as an option.
            guard !file.hasPrefix("-"), !file.hasPrefix("/") else { return nil }
            return test.name.isEmpty ? file : ([file] + parts + [test.name]).joined(separator: "::")
        }.uniqued
    }

    /// `--filterset EXPRESSION` of `cargo nextest run`.
    public var nextestArguments: [String] {
        let patterns = compactMap { test -> String? in
            guard test.isSayable, !test.suite.isEmpty else { return nil }
            let binary = "binary_id(=\(test.suite.filtersetEscaped))"
            return test.name.isEmpty ? binary : "\(binary) & test(=\(test.name.filtersetEscaped))"
        }
        return patterns.isEmpty ? [] : ["--filterset", patterns.uniqued.map { "(\($0))" }.joined(separator: " | ")]
    }
}

extension [KnownTest] {
    /// `-R EXPRESSION` for `ctest`. `ctest` passes when no test matches the expression.
    package var ctestArguments: [String] {
        let patterns = compactMap { $0.isSayable && !$0.name.isEmpty ? $0.name.cmakeEscaped : nil }
        return patterns.isEmpty ? [] : ["--no-tests=error", "-R", "^(\(patterns.uniqued.joined(separator: "|")))$"]
    }
}

extension KnownTest {
    /// One argument has at most 128 KiB (execve(2)); an expression joins up to 200 of these names. No argument can
    /// contain NUL.
    fileprivate var isSayable: Bool {
        !(name.isEmpty && suite.isEmpty && file == nil) && suite.utf8.count + name.utf8.count <= 300
            && !name.utf8.contains { $0 < 0x20 }
            && !suite.utf8.contains { $0 < 0x20 }
    }
}

extension String {
    /// `Module.Suite.Inner` as a pattern: results and runners join the parts by different separators, dots or slashes.
    fileprivate var pathPattern: String? {
        let parts = split { $0 == "." || $0 == "/" }
        return parts.isEmpty ? nil : parts.map { String($0).regexEscaped }.joined(separator: "[./]")
    }

    /// `test(of:)` of `test(of:) → 3`; `testThing` unchanged; nil for a display name.
    fileprivate var functionName: String? {
        let end = firstIndex(of: ")").map { index(after: $0) } ?? endIndex
        let name = self[..<end]
        let first = name.unicodeScalars.first
        guard let first, first == "_" || first == "`" || first.properties.isXIDStart, !name.contains(" ") else {
            return nil
        }
        return String(name)
    }

    fileprivate var regexEscaped: String { escaping("\\^$.|?*+()[]{}/-", with: { "\\\($0)" }) }

    /// CMake's regular expressions have fewer special characters than others, and no escapes that turn a letter into
    /// one.
    fileprivate var cmakeEscaped: String { escaping("\\^$.|?*+()[]", with: { "\\\($0)" }) }

    /// The text escaped for `swift test`, and as a nextest matcher.
    var swiftPattern: String { regexEscaped }
    var filtersetText: String { filtersetEscaped }

    /// nextest reads the text of a matcher up to the next `)`: nexte.st, "Filterset DSL", escape sequences.
    fileprivate var filtersetEscaped: String { escaping("\\/),", with: { "\\\($0)" }) }

    private func escaping(_ special: String, with escape: (Unicode.Scalar) -> String) -> String {
        let special = Set(special.unicodeScalars)
        return unicodeScalars.reduce(into: "") { text, scalar in
            if special.contains(scalar) { text += escape(scalar) } else { text.unicodeScalars.append(scalar) }
        }
    }
}

extension [String] {
    /// The elements without repetitions, in the order of their first occurrence.
    fileprivate var uniqued: [String] {
        var seen: Set<[UInt8]> = []
        return filter { seen.insert(Array<UInt8>($0.utf8)).inserted }
    }
}
