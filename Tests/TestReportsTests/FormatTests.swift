import Testing

@testable import Results
@testable import TestReports

/// Every format except JUnit's and Swift's, each recognised by its content.
@Suite struct FormatTests {
    @Test(
        arguments: [
            ("mstest.trx", "trx", "2/2/2/1/0"), ("nunit3.xml", "nunit3", "2/1/1/2/0"),
            ("nunit2.xml", "nunit2", "2/2/1/1/0"),
            ("xunit1.xml", "xunit", "1/1/0/1/0"), ("xunit2.xml", "xunit", "1/1/0/1/0"),
            ("gotest.json", "goTest", "3/4/0/1/0"),
            ("dart.json", "dart", "1/1/1/1/0"), ("mocha.json", "mocha", "2/1/0/1/0"),
            ("jest.json", "jest", "2/1/1/1/0"),
            ("rspec.json", "rspec", "1/1/1/2/0"),
            ("cucumber.json", "cucumber", "2/3/3/2/0"), ("cucumber-jvm.json", "cucumber", "1/1/2/1/0"),
            ("xcresult.json", "xcresult", "5/2/1/1/1"), ("xcresult-summary.json", "xcresult", "0/1/0/0/0"),
            ("ctrf.json", "ctrf", "2/1/0/2/0"), ("perl.tap", "tap", "3/2/0/1/1"),
            ("node.tap", "tap", "1/2/0/1/1"), ("bats.tap", "tap", "1/1/0/1/0"),
            ("ctest-timeout.xml", "junit", "1/3/0/0/0"),
            ("swift-testing-0.jsonl", "swiftTestingEvents", "6/9/1/3/1"),
            ("swiftpm-console.txt", "swiftpmConsole", nil),
        ] as [(String, String, String?)])
    func `the content decides the format`(name: String, format: String, tally: String?) throws {
        let bytes = try Fixture.bytes(name)
        #expect(ResultReadings.reading(of: FileStart(bytes))?.format.rawValue == format)
        // The name of the file is of no account.
        let results = TestResultReader().read(bytes, named: "x")
        if let tally { #expect(results.tally == tally) }
        #expect(!results.findings.contains { $0.rule == "result-file" && $0.severity == .error })
    }

    @Test(
        arguments: [
            (
                "mstest.trx", "AddsWrongly", "Demo.Tests.SumTests", "C:\\Program Files (x86)\\demo\\SumTests.cs:18",
                "Assert.AreEqual failed. Expected:<4>. Actual:<3>. sum is off"
            ),
            ("mstest.trx", "Rows (2,2)", "Demo.Tests.SumTests", "-:-", "Assert.IsTrue failed."),
            ("mstest.trx", "Hangs", "Demo.Tests.SumTests", "-:-", "The test ran into its time-out."),
            ("mstest.trx", "Later", "Demo.Tests.SumTests", "-:-", "no network"),
            ("mstest.trx", "Breaks", "Demo.Tests.OtherTests", "-:-", nil),
            ("nunit3.xml", "AddsWrongly", "Demo.SumTests", "/w/SumTests.cs:18", "Expected: 4\n  But was:  3"),
            ("nunit3.xml", "Throws", "Demo.SumTests", "/w/SumTests.cs:25", "System.ArgumentException : no <good>"),
            ("nunit3.xml", "Adds(1,\"a.b\")", "Demo.SumTests", "-:-", nil),
            ("nunit2.xml", "AddsWrongly", "Demo.SumTests", "/w/SumTests.cs:18", "Expected: 4\n  But was:  3"),
            ("nunit2.xml", "Adds(1,\"a.b\")", "Demo.SumTests", "-:-", nil),
            (
                "xunit2.xml", "AddsWrongly", "Demo.SumTests", "/w/SumTests.cs:18",
                "Assert.Equal() Failure: Values differ\nExpected: 4\nActual:   3"
            ),
            ("xunit2.xml", "later on", "Demo.SumTests", "-:-", "no network"),
            (
                "xunit1.xml", "AddsWrongly", "Demo.SumTests", "C:\\w\\SumTests.cs:363",
                "Assert.Equal() Failure\nExpected: 4\nActual:   3"
            ),
            ("gotest.json", "TestFails", "example.com/demo", "sum_test.go:8", "before\nSum(1, 2) = 3\nexpected 4"),
            ("gotest.json", "TestTable/two", "example.com/demo", "sum_test.go:16", "two is not one"),
            ("gotest.json", "TestTable", "example.com/demo", "-:-", "a subtest failed"),
            ("gotest.json", "TestSkips", "example.com/demo", "-:-", "no network"),
            (
                "gotest.json", "TestPanics", "example.com/demo/crash", "/build/demo/crash/c_test.go:7",
                "assignment to entry in nil map [recovered]"
            ),
            (
                "dart.json", "sum adds wrongly", "test/sum_test.dart", "test/sum_test.dart:10",
                "Expected: <4>\n  Actual: <3>"
            ),
            ("dart.json", "sum later", "test/sum_test.dart", "test/sum_test.dart:17", "no network"),
            (
                "mocha.json", "adds wrongly", "sum", "/w/test/sum.test.js:9",
                "Expected values to be strictly equal:\n\n3 !== 4"
            ),
            (
                "jest.json", "adds wrongly", "cart total", "/w/src/cart.test.ts:21",
                "Error: expect(received).toBe(expected) // Object.is equality\n\nExpected: 4\nReceived: 3"
            ),
            (
                "jest.json", "tax.test.ts", "", "src/tax.ts:3",
                "src/tax.ts:3:7 - error TS2322: Type 'string' is not assignable to type 'number'."
            ),
            (
                "rspec.json", "Adder adds wrongly", "spec.adder_spec", "./spec/adder_spec.rb:4",
                "expected: 4\n     got: 3\n\n(compared using ==)"
            ),
            ("rspec.json", "Adder raises", "spec.adder_spec", "./spec/adder_spec.rb:6", "no <good>"),
            (
                "cucumber.json", "adds wrongly", "Basket", "features/basket.feature:13",
                "expected: 3\n     got: 2\n\n(compared using ==)\n (RSpec::Expectations::ExpectationNotMetError)"
            ),
            ("cucumber.json", "raises", "Basket", "features/basket.feature:16", "no <good> (ArgumentError)"),
            (
                "cucumber.json", "not written yet", "Basket", "features/basket.feature:19",
                "no step definition matches: When I pay"
            ),
            ("cucumber.json", "later", "Basket", "features/basket.feature:21", "no network yet (Cucumber::Pending)"),
            (
                "cucumber.json", "rows #2", "Basket", "features/basket.feature:35",
                "expected: 5\n     got: 2\n\n(compared using ==)\n (RSpec::Expectations::ExpectationNotMetError)"
            ),
            (
                "cucumber.json", "has a hook that breaks", "Basket", "features/support/env.rb:1",
                "no database (RuntimeError)"
            ),
            (
                "cucumber-jvm.json", "adds wrongly", "Basket", "src/test/resources/demo/basket.feature:10",
                "java.lang.AssertionError: expected:<3> but was:<2>"
            ),
            (
                "cucumber-jvm.json", "has a hook that breaks", "Basket", "Hooks.java:9",
                "java.lang.IllegalStateException: no <good>"
            ),
            ("cucumber-jvm.json", "later", "Basket", "src/test/resources/demo/basket.feature:15", "no network"),
            (
                "ctrf.json", "adds wrongly", "sum.spec.ts > sum", "tests/sum.spec.ts:9",
                "expect(received).toBe(expected)\n\nExpected: 4\nReceived: 3"
            ),
            (
                "xcresult.json", "testAddsWrongly()", "DemoTests.SumTests", "SumTests.swift:18",
                "XCTAssertEqual failed: (\"3\") is not equal to (\"4\") - sum is off"
            ),
            ("xcresult.json", "testSkips()", "DemoTests.SumTests", "-:-", "no network"),
            (
                "xcresult.json", "rows(a:b:) (2, 2)", "DemoTests.Outer/Inner", "/w/Tests/Rows.swift:9",
                "Expectation failed: 4 == 5"
            ),
            ("xcresult.json", "opens() [iPad]", "DemoUITests", "-:-", nil),
            ("perl.tap", "sum is right", "", "a.t:3", "got: '3'\nexpected: '4'"),
            ("perl.tap", "second", "inner", "a.t:6", "got: 'a'\nexpected: 'b'"),
            (
                "node.tap", "adds wrongly", "sums", "/build/js/a.test.js:5",
                "Expected values to be strictly equal:\n\n3 !== 4"
            ),
            ("node.tap", "throws", "", "/build/js/a.test.js:9", "no <good>"),
            (
                "bats.tap", "compares", "", "a.bats:2",
                "`@test \"compares\" { run echo three; [ \"$output\" = \"four\" ]; }' failed"
            ),
        ] as [(String, String, String, String, String?)])
    func `a test has its suite, location and message`(
        file: String, name: String, suite: String, place: String, message: String?
    )
        throws
    {
        let result = try #require(try Fixture.results(file)[name])
        #expect(result.suite == suite)
        #expect(result.place == place)
        #expect(result.message == message)
    }

    @Test func `a failure outside of tests is a finding`() throws {
        func issues(_ name: String) throws -> [String] {
            try Fixture.results(name).findings.filter { $0.rule != "result-file" }.map {
                "\($0.file ?? "-"):\($0.line ?? 0)"
            }
        }
        #expect(try issues("nunit3.xml") == ["/w/Broken.cs:7"])
        #expect(try issues("xunit2.xml") == ["/w/Clean.cs:7"])
        #expect(try issues("mstest.trx") == ["-:0"])
        #expect(try issues("gotest.json") == ["broken/b_test.go:5"])
    }

    @Test(arguments: [("mocha.json", "at last"), ("jest.json", "at last"), ("ctrf.json", "at last")])
    func `tries that the format marks become attempts`(file: String, name: String) throws {
        let results = try Fixture.results(file)
        #expect(results.tests.filter { $0.name == name }.map(\.status) == [.failed, .passed])
        #expect(results.tests.filter { $0.name == name }.map(\.attempt) == [1, 2])
        #expect(results.counts.flaky == 1)
    }

    @Test func `other programs' output around a report is skipped`() throws {
        for name in ["mocha.json", "jest.json", "rspec.json", "cucumber.json", "ctrf.json", "dart.json", "bats.tap"] {
            let around =
                Array("> demo@1.0.0 test\n> sh run\n\n".utf8) + (try Fixture.bytes(name)) + Array("\nbye\n".utf8)
            let results = TestResultReader().read(around, named: name)
            #expect(results.tests == (try Fixture.results(name).tests), "\(name)")
        }
    }

    @Test func `a report that breaks off gives the results before`() throws {
        for name in [
            "mstest.trx", "nunit3.xml", "nunit2.xml", "xunit2.xml", "jest.json", "mocha.json", "rspec.json",
            "cucumber.json", "ctrf.json",
        ] {
            let bytes = try Fixture.bytes(name)
            let results = TestResultReader().read(Array(bytes.prefix(bytes.count * 2 / 3)), named: name)
            #expect(results.findings.contains { $0.severity == .error }, "\(name)")
            #expect(!results.tests.isEmpty || name == "rspec.json", "\(name)")
        }
        let lines = try Fixture.bytes("dart.json").split(separator: UInt8(ascii: "\n")).prefix(11)
        let dart = TestResultReader().read(Array(lines.joined(separator: [UInt8(ascii: "\n")])), named: "d")
        #expect(dart.tests.last?.status == .errored)
        #expect(dart.findings.contains { $0.severity == .error })
    }

    @Test(arguments: [
        ("1..3\nok 1 - a\nok 2 - b\n", 2, "result-file"), ("1..2\nok 1\nBail out! no database\n", 1, "test-issue"),
        ("1..0 # SKIP no Windows\n", 0, "test-issue"), ("ok 1 - a\n", 1, "result-file"),
    ])
    func `incomplete TAP gives a finding`(text: String, count: Int, rule: String) {
        let results = TestResultReader().read(Array(text.utf8), named: "t")
        #expect(results.tests.count == count)
        #expect(results.findings.map(\.rule) == [rule])
    }

    @Test func `TAP has times, directives and nested tests`() {
        let text = """
            TAP version 14
            1..4
            ok 1 - quick # time=12.5ms
            ok 2 - a \\# b in 7ms
            not ok 3 # TODO: later
            # Subtest: outer
                # Subtest: inner
                    ok 1 - deep
                    1..1
                ok 1 - inner
                1..1
            ok 4 - outer
            """
        let results = TestResultReader().read(Array(text.utf8), named: "t")
        #expect(results.tests.map(\.id) == ["quick", "a # b", "test 3", "outer/inner/deep"])
        #expect(results.tests.map(\.duration) == [0.0125, 0.007, nil, nil])
        #expect(results.tests[2].status == .expectedFailure)
        #expect(results.findings.isEmpty)
    }

    @Test func `a large report is read in bounded memory`() {
        let limits = TestResultLimits(fileBytes: 64 << 10, tests: 20, fieldBytes: 300, nameBytes: 60, totalBytes: 4_000)
        let test = #"{"name":"n","status":"failed","duration":1,"message":"\#(String(repeating: "m", count: 900))"},"#
        let text = #"{"results":{"tool":{"name":"x"},"tests":["# + String(repeating: test, count: 500) + "]}}"
        let results = TestResultReader(limits: limits).read(Array(text.utf8), named: "t")
        #expect(results.tests.count == 20)
        #expect(results.tests.reduce(0) { $0 + ($1.message?.utf8.count ?? 0) } <= 4_000)
    }
}

@Suite struct UnknownFormatTests {
    @Test(arguments: [
        ("<robot generator=\"Robot 7\"><suite/></robot>", "Robot Framework"), ("<Site><Testing/></Site>", "CTest"),
        ("<coverage line-rate=\"1\"/>", "coverage"),
        ("[{\"location\":\"a.feature:1\",\"keyword\":\"Feature\",\"elements\":[{\"steps\":[]}]}]", "behave"),
        ("{\"$schema\":\"x\",\"runs\":[]}", "SARIF"), ("{\"config\":{},\"suites\":[]}", "Playwright"),
        ("=== RUN   TestA\n--- PASS: TestA (0.00s)\n", "go test -v"),
        ("##teamcity[testStarted name='a']\n", "TeamCity"),
        ("====== test session starts ======\n", "pytest"), ("{\"a\":1}", "JSON"), ("<a/>", "XML"), ("hello", "text"),
    ])
    func `an unsupported format is named`(text: String, word: String) {
        let results = TestResultReader().read(Array(text.utf8), named: "f")
        #expect(results.tests.isEmpty)
        #expect(results.findings.map(\.severity) == [.error])
        #expect(results.findings.first?.message.contains(word) == true)
        #expect(results.findings.first?.suggestion?.isEmpty == false)
    }
}
