@testable import Results
import Testing

@Suite struct JUnitDialectTests {
    @Test(arguments: [
        ("bazel.xml", "0/0/1/0/0"), ("ctest.xml", "1/2/1/2/0"), ("gotestsum.xml", "2/4/0/1/0"),
        ("gradle.xml", "1/1/0/1/0"), ("gtest.xml", "1/1/0/1/0"), ("jest-junit.xml", "1/1/1/1/0"),
        ("nextest.xml", "2/1/1/0/0"), ("node-test.xml", "2/2/0/1/1"), ("phpunit.xml", "2/2/2/2/0"),
        ("pytest-collect.xml", "0/0/1/0/0"), ("pytest-xunit1.xml", "7/5/2/1/1"), ("pytest-xunit2.xml", "7/5/2/1/1"),
        ("rspec.xml", "2/2/0/2/0"), ("surefire-reruns.xml", "2/0/2/1/0"), ("swiftpm-swift-testing.xml", "8/10/0/2/0"),
        ("swiftpm-xctest.xml", "3/4/0/0/0"), ("swiftpm-xctest-messages.xml", "3/4/0/0/0"),
    ])
    func everyTestOfADialectIsRead(name: String, tally: String) throws {
        let results = try Fixture.results(name)
        #expect(results.tally == tally)
        #expect(results.findings.allSatisfy { $0.severity != .error })
    }

    @Test(
        arguments: [
            ("bazel.xml", "app/tests/sum_test", "app/tests/sum_test.cc:12", "exited with error code 1"),
            ("ctest.xml", "fails", "/src/a.cpp:12", "/src/a.cpp:12: Failure"),
            ("gotestsum.xml", "TestFail", "demo_test.go:4", "log <line>\ngot 3, want 4"),
            ("gotestsum.xml", "TestPanic", "/build/demo/demo_test.go:7", "assignment to entry in nil map [recovered]"),
            ("gotestsum.xml", "TestSkip", "demo_test.go:5", "no network"),
            (
                "gradle.xml", "[1] 1.5, EUR", "PriceTest.kt:17",
                "org.opentest4j.AssertionFailedError: expected: <2> but was: <1>"
            ),
            ("gtest.xml", "Carries", "sum_test.cc:14", "Expected equality of these values:\n  3\n  4"),
            (
                "jest-junit.xml", "cart total sums up", "src/cart.test.ts:21",
                "Error: expect(received).toBe(expected) // Object.is equality"
            ),
            (
                "nextest.xml", "tests::fails", "src/lib.rs:14",
                "thread 'tests::fails' panicked at src/lib.rs:14:9"
            ),
            ("node-test.xml", "fails <x>", "/build/demo/demo.test.js:2", "sum is off3 !== 4"),
            (
                "phpunit.xml", "testFails", "/build/demo/tests/DemoTest.php:5",
                "sum is off\nFailed asserting that 3 is identical to 4."
            ),
            (
                "pytest-collect.xml", "test_collect", "test_collect.py:1",
                "ModuleNotFoundError: No module named 'nothing_here'"
            ),
            // The assertion is in a helper, above the test.
            ("pytest-xunit1.xml", "test_fails", "test_demo.py:10", "AssertionError: sum is off\nassert 3 == 4"),
            ("pytest-xunit2.xml", "test_fails", "test_demo.py:10", "AssertionError: sum is off\nassert 3 == 4"),
            ("rspec.xml", "Adder fails", "./spec/demo_spec.rb:3", "expected: 4\n     got: 3\n\n(compared using ==)"),
            ("surefire-reruns.xml", "throwing", "DemoTest.java:9", "no <good>"),
            ("swiftpm-swift-testing.xml", "helperFails()", "-:-", "Expectation failed: 1 == 2 (error)"),
            (
                "swiftpm-xctest-messages.xml", "testFails", "/build/demo/Tests/DemoTests/XTests.swift:9",
                "XCTAssertEqual failed: (\"3\") is not equal to (\"4\") - sum is off"
            ),
        ] as [(String, String, String, String?)])
    func `a failure has its location and message`(name: String, test: String, place: String, message: String?) throws {
        let result = try #require(try Fixture.results(name)[test])
        #expect(result.place == place)
        #expect(result.message == message)
    }

    @Test func `pytest's lines count from zero and ours from one`() throws {
        let results = try Fixture.results("pytest-xunit1.xml")
        #expect(results["test_passes"]?.place == "test_demo.py:8")
        #expect(results["test_xfail"]?.status == .expectedFailure)
        #expect(results["test_setup_error"]?.status == .errored)
        #expect(results["test_ü"]?.suite == "test_demo.TestKlass")
    }

    @Test func `output is kept for failures only`() throws {
        let results = try Fixture.results("pytest-xunit1.xml")
        #expect(results["test_fails"]?.details?.contains("to stdout <b>") == true)
        #expect(results["test_fails"]?.details?.contains("to stderr") == true)
        #expect(results["test_passes"]?.details == nil)
        #expect(try Fixture.results("surefire-reruns.xml")["passes"]?.details == nil)
    }

    @Test func `reruns become attempts`() throws {
        let results = try Fixture.results("surefire-reruns.xml")
        let fails = results.tests.filter { $0.name == "fails" }
        #expect(fails.map(\.attempt) == [1, 2, 3])
        #expect(fails.map(\.status) == [.failed, .failed, .errored])
        #expect(fails.map(\.place) == ["DemoTest.java:7", "DemoTest.java:7", "DemoTest.java:6"])
        let flaky = results.tests.filter { $0.name == "flaky" }
        #expect(flaky.map(\.status) == [.failed, .passed])
        #expect(results.counts.flaky == 1)
        let rust = try Fixture.results("nextest.xml").tests
        #expect(rust.filter { $0.name == "tests::flaky" }.map(\.status) == [.failed, .passed])
        #expect(
            rust.first { $0.name == "tests::fails" }?.message?.hasPrefix("assertion `left == right` failed") == true)
        #expect(rust.first { $0.name == "tests::flaky" }?.duration == 0.031)
    }

    @Test func `failures that only an inner suite counts are reported`() {
        let inner = "<testsuite name='pytest' tests='6' failures='1'/>"
        for text in [inner, "<testsuites>\(inner)</testsuites>", "<testsuites failures='1'>\(inner)</testsuites>"] {
            #expect(junit(text).findings.map(\.severity) == [.warning])
        }
        let listed = "<testsuite name='s' failures='1'><testcase name='a'><failure/></testcase></testsuite>"
        #expect(junit("<testsuites>\(listed)</testsuites>").findings.isEmpty)
        #expect(junit("<testsuite failures='1'><testcase name='a' status='fail'/></testsuite>").findings.isEmpty)
    }

    @Test(
        arguments: [
            (
                "<failure message='failed'>Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n    g()\n  File \"b.py\", line 4, in g\n    raise E\nValueError: bad input 42\n\nStdout:\nhello</failure>",
                "ValueError: bad input 42", "b.py:4"
            ),
            (
                "<error message='Traceback (most recent call last):&#10;  File &quot;a.py&quot;, line 3, in f&#10;    g()&#10;KeyError: 1&#10;&#10;During handling of the above exception, another exception occurred:&#10;&#10;Traceback (most recent call last):&#10;  File &quot;a.py&quot;, line 5, in f&#10;    h()&#10;OSError: no&#10;second line'/>",
                "OSError: no\nsecond line", "a.py:5"
            ),
            (
                "<failure>Error: Some error\n    at Object.&lt;anonymous&gt; (src/a.test.js:4:9)\n    at x (y.js:1:1)</failure>",
                "Error: Some error", "src/a.test.js:4"
            ),
            (
                "<failure message='Error: Some error&#10;    at f (src/a.test.js:4:9)'/>", "Error: Some error",
                "src/a.test.js:4"
            ),
            (
                "<error>  ● Test suite failed to run\n\n    tsconfig.json:13:3 - error TS5023: Unknown option 'x'.\n\n    13   \"x\": 1</error>",
                "tsconfig.json:13:3 - error TS5023: Unknown option 'x'.", "tsconfig.json:13"
            ),
        ])
    func `the message describes the failure`(outcome: String, message: String, place: String) {
        let result = junit("<testsuite><testcase name='a'>\(outcome)</testcase></testsuite>").tests.first
        #expect(result?.message == message)
        #expect(result?.place == place)
    }

    @Test func `expected failures of xmlrunner are recognised`() {
        let results = junit("<testsuite><testcase name='a'><skipped type='XFAIL' message='m'/></testcase></testsuite>")
        #expect(results.tests.map(\.status) == [.expectedFailure])
        let printed = junit(
            "<testsuite><testcase name='a'><failure message='m'/><system-out>text</system-out></testcase></testsuite>")
        #expect(printed.tests.first?.details == "system-out:\ntext")
    }

    @Test func `a failed build without tests is reported`() throws {
        #expect(try Fixture.results("gotestsum.xml").findings.map(\.severity) == [.warning])
    }

    @Test(
        arguments: [
            ("0.5", 0.5), ("1,234.56", 1234.56), ("1.234,56", 1234.56), ("0,125", 0.125), ("1,234,567", 1_234_567),
            ("12s", 12), ("", nil), ("NaN", nil), ("-1", nil), ("inf", nil), ("1e400", nil), ("soon", nil),
        ] as [(String, Double?)])
    func timesOfAllLocalesAreSeconds(text: String, seconds: Double?) {
        #expect(junit("<testsuite><testcase name='a' time='\(text)'/></testsuite>").tests.first?.duration == seconds)
    }

    @Test func `other roots, prefixes and missing names are accepted`() {
        #expect(
            junit("<testcase name='a' classname='C'/><testcase classname='C'/>").tests.map(\.id) == [
                "C/a", "C/(unnamed 1)",
            ])
        #expect(
            junit("<j:testsuite xmlns:j='urn:j' name='S'><j:testcase name='a'/></j:testsuite>").tests.map(\.id) == [
                "S/a"
            ])
        let nested = junit("<testsuite name='A'><testsuite name='B'><testcase name='a'/></testsuite></testsuite>")
        #expect(nested.tests.map(\.id) == ["A/B/a"])
        // Two reports one after the other, as `cat` makes them.
        let two = "<?xml version='1.0'?><testsuite name='A'><testcase name='a'/></testsuite>\n"
        #expect(junit(two + two).tests.map(\.id) == ["A/a", "A/a #2"])
    }
}
