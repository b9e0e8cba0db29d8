/// Running only some tests of a step: `pipectl run test --step unit --tests Suite/name`.
extension Step {
    /// Says how the step is told which tests to run, where its command does not show that.
    ///
    /// pipectl recognises a single `swift test`, `pytest`, `cargo nextest run` or `ctest`, and it uses the filter of
    /// ``retryFailedTests(_:times:knownFlaky:atMost:)``. The arguments follow the step's command. A shell line gets
    /// them as `"$@"`: at its end, or where the line contains `"$@"`.
    public func testFilter(_ filter: TestRetry.Filter) -> Step {
        var copy = self
        copy.planned.testFilter = filter
        return copy
    }
}

extension PlannedStep {
    /// How the step is told which tests to run; nil if that is unknown.
    package var testRunner: TestRetry.Filter? {
        // A part runs the tests of its list, whatever follows its command.
        guard shard?.list == nil else { return nil }
        switch action {
        case .closure, .approval, .release, .publish: return nil
        case .shell(let line):
            if let said = testFilter ?? testRetry?.filter { return said }
            guard isOneCommand else { return nil }
            return Self.runner(in: line.split { $0 == " " || $0 == "\t" }.map(String.init))
        case .command(let words): return testFilter ?? testRetry?.filter ?? Self.runner(in: words)
        }
    }

    /// The tool that a command starts, after any variables that are set for it.
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

    /// Whether the exit code is that of a single program, as far as that can be seen without a shell parser.
    package var isOneCommand: Bool {
        switch action {
        case .shell(let line): !line.withoutEnd.contains { "\n;&|`(){}<".contains($0) }
        case .command: true
        case .closure, .approval, .release, .publish: false
        }
    }

    /// The step with these arguments after its command; nil if it has no command.
    ///
    /// Names of tests are untrusted text: they are passed as arguments of the shell, never as part of the line that it
    /// reads.
    package func adding(_ arguments: [String]) -> PlannedStep? {
        var step = self
        switch action {
        case .shell(let line):
            let text = line.contains("\"$@\"") ? line : line.withoutEnd + " \"$@\""
            step.action = .command(["/bin/sh", "-ec", text, "sh"] + arguments)
        case .command(let words): step.action = .command(words + arguments)
        case .closure, .approval, .release, .publish: return nil
        }
        return step
    }

    /// The step, told to run only these tests; nil if its tool can select none of them.
    package func running(_ tests: [KnownTest]) -> PlannedStep? {
        guard let runner = testRunner else { return nil }
        let named = tests.filter { !$0.isLoose || runner == .ctest || runner == .names }
        let loose = tests.filter { $0.isLoose && runner != .ctest && runner != .names }.map(\.name)
        var arguments = runner.arguments(for: named)
        // Without any filter, the tool would run all tests.
        guard named.isEmpty || !arguments.isEmpty else { return nil }
        for text in loose {
            guard let words = runner.arguments(like: text, beside: !named.isEmpty) else { return nil }
            arguments += words
        }
        return arguments.isEmpty ? nil : adding(arguments)
    }
}

extension KnownTest {
    /// Whether a person typed this name; names from earlier runs have a suite or a file.
    package var isLoose: Bool { suite.isEmpty && file == nil }
}

extension TestRetry.Filter {
    /// The arguments for tests of which only a part of the name is known; nil if the tool has no such filter.
    ///
    /// - Parameter beside: Whether other tests are selected, too.
    func arguments(like text: String, beside: Bool) -> [String]? {
        guard !text.isEmpty, text.utf8.count <= 300, !text.utf8.contains(where: { $0 < 0x20 }) else { return nil }
        let last = text.split(separator: "/").last.map(String.init) ?? text
        switch self {
        case .swiftPM: return ["--filter", text.swiftPattern]
        case .pytest where text.contains("::") || text.hasSuffix(".py"): return text.hasPrefix("-") ? nil : [text]
        // Pytest applies an expression to the selected ids: both together would run fewer tests than asked for.
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
