import Foundation
import Pipeline
import Testing

/// Names of tests, which any change can choose, as arguments for test tools.
struct TestHistoryTests {
    @Test func `swift test gets one expression that matches only these tests`() throws {
        let tests = [
            KnownTest(suite: "DemoTests.STests.Inner", name: "deep()"),
            KnownTest(suite: "DemoTests.XTests", name: "testFails"),
            KnownTest(suite: "DemoTests.STests", name: "pairs(text:flag:) → \"a\", true"),
            KnownTest(suite: "DemoTests.Named", name: "Named and failing 🍋"),
            KnownTest(suite: "DemoTests.STests.Inner", name: "deep()"),
        ]
        let arguments = tests.swiftTestArguments
        #expect(arguments.count == 2 && arguments.first == "--filter")
        let expression = try NSRegularExpression(pattern: arguments[1])
        func matches(_ id: String) -> Bool {
            expression.firstMatch(in: id, range: NSRange(id.startIndex..., in: id)) != nil
        }
        for id in [
            "DemoTests.STests/Inner/deep()/STests.swift:8:6", "DemoTests.STests/Inner/deep()",
            "DemoTests.XTests/testFails",
            "DemoTests.STests/pairs(text:flag:)/STests.swift:1:1", "DemoTests.Named/anything()/N.swift:1:1",
        ] { #expect(matches(id), "\(id)") }
        for id in [
            "DemoTests.STests/deep()", "DemoTests.XTests/testFailsLater", "DemoTestsXSTests/Inner/deep()",
            "OtherDemoTests.XTests/testFails", "DemoTests.STests/pairs(text:)/S.swift:1:1",
        ] { #expect(!matches(id), "\(id)") }
    }

    @Test func `a hostile test name can't become an option or a pattern`() throws {
        let names = [".*", "a|b", "$(touch x)", "--help", "'; rm -rf /", "a\nb", "a\u{0}b", "\\E.*", "a) or all()"]
        let tests = names.map { KnownTest(suite: "S", name: $0) } + names.map { KnownTest(suite: $0, name: "test") }
        for pattern in tests.swiftTestArguments.dropFirst().flatMap({ $0.split(separator: "|") }) {
            #expect(pattern.utf8.allSatisfy { $0 >= 0x20 })
        }
        let expression = try NSRegularExpression(pattern: tests.swiftTestArguments[1])
        for id in ["Other/other", "b/test", "all/test"] {
            #expect(expression.firstMatch(in: id, range: NSRange(id.startIndex..., in: id)) == nil, "\(id)")
        }
        #expect(!tests.pytestArguments.contains { $0.hasPrefix("-") || $0.hasPrefix("/") })
        let filterset = try #require(tests.nextestArguments.last)
        #expect(filterset.contains("test(=a\\) or all()") || filterset.contains("test(=a\\) or all(\\))"))
        #expect(filterset.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test func `pytest gets node ids`() {
        let tests = [
            KnownTest(suite: "tests.test_types.TestPath", name: "test_suffix[a-b]", file: "tests/test_types.py"),
            KnownTest(suite: "tests.test_types", name: "test_plain", file: "tests/test_types.py"),
            KnownTest(suite: "tests.unit.test_core.TestA.TestB", name: "test_c"),
            KnownTest(suite: "test_top", name: "test_d", file: "test_top.py"),
            KnownTest(suite: "nothing.like.it", name: "test_e"),
            KnownTest(suite: "tests.test_new.TestN", name: "", file: "tests/test_new.py"),
            KnownTest(suite: "", name: "", file: "tests/test_newer.py"),
            KnownTest(suite: "-x.test_a", name: "test_f", file: "-x/test_a.py"),
        ]
        #expect(
            tests.pytestArguments == [
                "tests/test_types.py::TestPath::test_suffix[a-b]", "tests/test_types.py::test_plain",
                "tests/unit/test_core.py::TestA::TestB::test_c", "test_top.py::test_d", "tests/test_new.py",
                "tests/test_newer.py",
            ])
    }

    @Test func `nextest gets a filterset`() {
        let tests = [
            KnownTest(suite: "demo", name: "tests::fails"), KnownTest(suite: "demo::cli", name: "a, (b)"),
            KnownTest(suite: "", name: "x"),
        ]
        #expect(
            tests.nextestArguments == [
                "--filterset",
                "(binary_id(=demo) & test(=tests::fails)) | (binary_id(=demo::cli) & test(=a\\, (b\\)))",
            ])
    }

    @Test func `no tests give no arguments`() {
        let none: [KnownTest] = []
        #expect(none.swiftTestArguments.isEmpty && none.pytestArguments.isEmpty && none.nextestArguments.isEmpty)
        let long = [KnownTest(suite: "S", name: String(repeating: "x", count: 400))]
        #expect(long.swiftTestArguments.isEmpty)
        let many = (0..<TestHistory.limit).map {
            KnownTest(suite: "S", name: String(repeating: "(", count: 280) + "\($0)")
        }
        #expect((many.nextestArguments.last?.utf8.count ?? 0) < 128 << 10, "one argument has at most 128 KiB")
    }
}
