import Testing

@testable import Pipeline

/// How a step is told which of its tests to run.
struct NamedTestsTests {
    @Test(arguments: [
        ("swift test --skip-build --parallel", TestRetry.Filter.swiftPM), ("MODE=a swift test", .swiftPM),
        ("pytest -q tests", .pytest), ("python3 -m pytest", .pytest), ("cargo nextest run", .nextest),
        ("ctest --test-dir b", .ctest), (" swift  test ", .swiftPM),
    ])
    func `the test tool is recognised from a simple command`(_ line: String, _ filter: TestRetry.Filter) {
        #expect(PlannedStep(name: "s", action: .shell(line)).testRunner == filter)
        let words = line.split(separator: " ").map(String.init)
        #expect(PlannedStep(name: "s", action: .command(words)).testRunner == filter)
    }

    @Test(arguments: [
        "swift build", "make test", "swift test && swift test", "swift test | tee log", "cd a\nswift test",
        "swift test -- --mine", "cargo test", "echo swift test", "", "$(swift test)", "./pytest",
    ])
    func `the test tool of any other command is unknown`(_ line: String) {
        #expect(PlannedStep(name: "s", action: .shell(line)).testRunner == nil)
    }

    @Test func `a declared test filter takes precedence`() {
        var step = PlannedStep(name: "s", action: .shell("make test && make more"))
        step.testRetry = TestRetry(filter: .pytest)
        #expect(step.testRunner == .pytest)
        step.testFilter = .names
        #expect(step.testRunner == .names)
        step.action = .closure
        #expect(step.testRunner == nil)
        #expect(Step("s", run: "make").testFilter(.names).planned.testFilter == .names)
    }

    private func words(_ line: String, _ tests: [KnownTest]) -> [String]? {
        guard case .command(let words)? = PlannedStep(name: "s", action: .shell(line)).running(tests)?.action else {
            return nil
        }
        #expect(words.starts(with: ["/bin/sh", "-ec"]) && words[2] == line + " \"$@\"" && words[3] == "sh")
        return Array(words.dropFirst(4))
    }

    @Test func `known tests are selected exactly, others by a part of their name`() {
        let known = KnownTest(suite: "M.S", name: "one()")
        #expect(words("swift test", [known]) == ["--filter", "^M[./]S[./]one\\(\\)($|[/(])"])
        let part = KnownTest(suite: "", name: "S/tw.o")
        #expect(words("swift test", [part]) == ["--filter", "S\\/tw\\.o"])
        #expect(words("swift test", [known, part])?.count == 4, "either of them")
        let python = KnownTest(suite: "tests.test_a.TestB", name: "test_c", file: "tests/test_a.py")
        #expect(words("pytest -q", [python]) == ["tests/test_a.py::TestB::test_c"])
        #expect(words("pytest", [KnownTest(suite: "", name: "TestB/test_c")]) == ["-k", "test_c"])
        #expect(words("pytest", [KnownTest(suite: "", name: "a.py::test_c")]) == ["a.py::test_c"])
        #expect(words("pytest", [python, KnownTest(suite: "", name: "test_d")]) == nil, "-k would narrow the other")
        #expect(words("pytest", [KnownTest(suite: "", name: "a or b")]) == nil, "an expression is no name")
        let c = [KnownTest(suite: "(empty)", name: "two (2)"), KnownTest(suite: "", name: "a.b")]
        #expect(words("ctest", c) == ["--no-tests=error", "-R", "^(two \\(2\\)|a\\.b)$"])
        #expect(words("cargo nextest run", [part]) == ["--filterset", "test(tw.o)"])
    }

    /// Without a filter, a tool runs all tests.
    @Test func `a step that can't select tests gives no step to run`() {
        #expect(words("swift test", [KnownTest(suite: "", name: "")]) == nil)
        #expect(words("swift test", [KnownTest(suite: "M", name: "a\u{7}b")]) == nil)
        #expect(PlannedStep(name: "s", action: .shell("make")).running([KnownTest(suite: "M", name: "a")]) == nil)
    }
}
