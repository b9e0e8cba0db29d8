/// Running some of a step's tests: `pipectl run test --step unit --tests Suite/name`.
extension Step {
    /// Says how the step is told which tests to run, where its command does not show that.
    ///
    /// A single `swift test`, `pytest`, `cargo nextest run` or `ctest` is known without it, and so is what
    /// ``retryFailedTests(_:times:knownFlaky:atMost:)`` says. The arguments come after the step's command; a shell line
    /// gets them as `"$@"`, at its end or where it says so itself.
    public func testFilter(_ filter: TestRetry.Filter) -> Step {
        var copy = self
        copy.planned.testFilter = filter
        return copy
    }
}

extension PlannedStep {
    /// How the step is told which tests to run; nil where nobody knows.
    package var testRunner: TestRetry.Filter? {
        switch action {
        case .closure, .approval: return nil
        case .shell(let line):
            if let said = testFilter ?? testRetry?.filter { return said }
            guard isOneCommand else { return nil }
            return Self.runner(in: line.split { $0 == " " || $0 == "\t" }.map(String.init))
        case .command(let words): return testFilter ?? testRetry?.filter ?? Self.runner(in: words)
        }
    }

    /// The tool that a command begins with, behind variables that are set for it.
    private static func runner(in words: [String]) -> TestRetry.Filter? {
        let words = words.drop { word in
            word.prefix { $0 != "=" }.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                && word.contains("=")
        }
        // What follows belongs to the program under test.
        guard !words.contains("--") else { return nil }
        let known: [([String], TestRetry.Filter)] = [
            (["swift", "test"], .swiftPM), (["pytest"], .pytest), (["py.test"], .pytest),
            (["python", "-m", "pytest"], .pytest), (["python3", "-m", "pytest"], .pytest),
            (["uv", "run", "pytest"], .pytest), (["poetry", "run", "pytest"], .pytest),
            (["cargo", "nextest", "run"], .nextest), (["ctest"], .ctest),
        ]
        return known.first { words.starts(with: $0.0) }?.1
    }

    /// Whether its exit code is that of a single program, as far as that can be told without reading shell.
    package var isOneCommand: Bool {
        switch action {
        case .shell(let line): !line.withoutEnd.contains { "\n;&|`(){}<".contains($0) }
        case .command: true
        case .closure, .approval: false
        }
    }

    /// The step with these words behind its command; nil where it has none.
    ///
    /// Names of tests are foreign text: they are words of the shell, never part of what it reads.
    package func adding(_ arguments: [String]) -> PlannedStep? {
        var step = self
        switch action {
        case .shell(let line):
            let text = line.contains("\"$@\"") ? line : line.withoutEnd + " \"$@\""
            step.action = .command(["/bin/sh", "-ec", text, "sh"] + arguments)
        case .command(let words): step.action = .command(words + arguments)
        case .closure, .approval: return nil
        }
        return step
    }

    /// The step told to run only these tests; nil where its tool can't be told any of them.
    package func running(_ tests: [KnownTest]) -> PlannedStep? {
        guard let runner = testRunner else { return nil }
        let named = tests.filter { !$0.isLoose || runner == .ctest || runner == .names }
        let loose = tests.filter { $0.isLoose && runner != .ctest && runner != .names }.map(\.name)
        var arguments = runner.arguments(for: named)
        // A tool that is told none of what it is asked for would run everything.
        guard named.isEmpty || !arguments.isEmpty else { return nil }
        for text in loose {
            guard let words = runner.arguments(like: text, beside: !named.isEmpty) else { return nil }
            arguments += words
        }
        return arguments.isEmpty ? nil : adding(arguments)
    }
}

extension KnownTest {
    /// Whether it is a name as somebody wrote it, which no earlier run has.
    package var isLoose: Bool { suite.isEmpty && file == nil }
}

extension TestRetry.Filter {
    /// The arguments for tests that are known by a part of their name only; nil where the tool has none for that.
    ///
    /// - Parameter beside: Whether other tests are named, too.
    func arguments(like text: String, beside: Bool) -> [String]? {
        guard !text.isEmpty, text.utf8.count <= 300, !text.utf8.contains(where: { $0 < 0x20 }) else { return nil }
        let last = text.split(separator: "/").last.map(String.init) ?? text
        switch self {
        case .swiftPM: return ["--filter", text.swiftPattern]
        case .pytest where text.contains("::") || text.hasSuffix(".py"): return text.hasPrefix("-") ? nil : [text]
        // An expression narrows what is named: both together would run less than was asked for.
        case .pytest where beside || !last.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }: return nil
        case .pytest: return ["-k", last]
        case .nextest: return ["--filterset", "test(\(last.filtersetText))"]
        case .ctest, .names: return nil
        }
    }
}

extension String {
    var withoutEnd: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text = text.dropLast() }
        return String(text)
    }
}
