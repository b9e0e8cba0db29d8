import TestBasics
import Reports
import Results
import Foundation
import TestSupport
import Testing

/// The first lines of a bundle about a failed test: the test, its place, and the compared values, for each tool's
/// format. The tools' output is recorded here; ``BundleTests`` runs the tools.
struct BundleMessageTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        var name: String
        /// The step's output.
        var console = ""
        /// The result file of the step.
        var results: String
        var test: String
        var place: String
        var says: [String]

        var testDescription: String { name }
    }

    private static let kinds = [
        Kind(
            name: "XCTest on Linux",
            console: """
                [1/2] Testing AppTests.ViewTests/testRows
                [2/2] Testing AppTests.ViewTests/testRowsAgain
                Test Suite 'Selected tests' started at 2026-11-23 21:00:00.000
                Test Suite 'ViewTests' started at 2026-11-23 21:00:00.000
                Test Case 'ViewTests.testRowsAgain' started at 2026-11-23 21:00:00.000
                printed by another test
                Test Case 'ViewTests.testRowsAgain' passed (0.001 seconds)
                Test Case 'ViewTests.testRows' started at 2026-11-23 21:00:00.000
                Tests/AppTests/ViewTests.swift:4: error: ViewTests.testRows : XCTAssertEqual failed: ("id,name
                1,x") is not equal to ("id,name,age") - header
                printed by testRows
                Test Case 'ViewTests.testRows' failed (0.001 seconds)
                """,
            results: """
                <testsuites><testsuite name="TestResults" errors="0" tests="2" failures="1" time="0.3">
                <testcase classname="AppTests.ViewTests" name="testRows" time="0.03">
                <failure message="failure"></failure></testcase>
                <testcase classname="AppTests.ViewTests" name="testRowsAgain" time="0.03"></testcase>
                </testsuite></testsuites>
                """,
            test: "AppTests.ViewTests/testRows", place: "Tests/AppTests/ViewTests.swift:4",
            says: ["(\"id,name\n1,x\") is not equal to (\"id,name,age\") - header"]),
        Kind(
            name: "Swift Testing",
            results: """
                {"kind":"test","payload":{"id":"AppTests.sum()/SumTests.swift:3:2","kind":"function","name":"sum()","sourceLocation":{"_filePath":"Tests/AppTests/SumTests.swift","fileID":"AppTests/SumTests.swift","line":3,"column":2}},"version":0}
                {"kind":"event","payload":{"kind":"testStarted","testID":"AppTests.sum()/SumTests.swift:3:2","instant":{"absolute":1,"since1970":1}},"version":0}
                {"kind":"event","payload":{"kind":"issueRecorded","testID":"AppTests.sum()/SumTests.swift:3:2","issue":{"isKnown":false,"sourceLocation":{"_filePath":"Tests/AppTests/SumTests.swift","fileID":"AppTests/SumTests.swift","line":4,"column":5}},"messages":[{"symbol":"fail","text":"Expectation failed: (total → 3) == 4"}]},"version":0}
                {"kind":"event","payload":{"kind":"testEnded","testID":"AppTests.sum()/SumTests.swift:3:2","instant":{"absolute":2,"since1970":2}},"version":0}
                {"kind":"event","payload":{"kind":"runEnded"},"version":0}
                """,
            test: "AppTests/sum()", place: "Tests/AppTests/SumTests.swift:4", says: ["3", "4"]),
        Kind(
            name: "pytest",
            results: """
                <testsuites><testsuite name="pytest" errors="0" failures="1" tests="1"><testcase classname="test_app"
                 name="test_sum" time="0.001"><failure message="assert 2 == 3">def test_sum():
                        total = 1 + 1
                &gt;       assert total == 3
                E       assert 2 == 3

                test_app.py:3: AssertionError</failure></testcase></testsuite></testsuites>
                """,
            test: "test_app/test_sum", place: "test_app.py:3", says: ["2 == 3"]),
        Kind(
            name: "ctest",
            console: "1/1 Test #1: sum ..............................***Failed    0.01 sec",
            results: """
                <testsuite name="(empty)" tests="1" failures="1"><testcase name="sum" classname="sum" time="0.01"
                 status="fail"><failure message=""/><system-out>src/a.c:12: Failure: expected 4, got 3
                </system-out></testcase></testsuite>
                """,
            test: "sum", place: "src/a.c:12", says: ["expected 4, got 3"]),
        Kind(
            name: "jest",
            results: """
                {"numFailedTests":1,"numTotalTests":1,"testResults":[{"assertionResults":[{"ancestorTitles":["sum"],
                "title":"adds","status":"failed","failureMessages":["Error: expect(received).toBe(expected) // Object.is equality\\n\\nExpected: 4\\nReceived: 3\\n    at Object.toBe (src/sum.test.js:4:9)"]}],
                "name":"src/sum.test.js","status":"failed","message":""}]}
                """,
            test: "sum/adds", place: "src/sum.test.js:4", says: ["Expected: 4", "Received: 3"]),
        Kind(
            name: "Cucumber",
            results: """
                [{"uri":"features/basket.feature","id":"basket","keyword":"Feature","name":"Basket","line":1,"elements":[
                {"id":"basket;adds","keyword":"Scenario","name":"adds","line":3,"type":"scenario","steps":[
                {"keyword":"Given ","name":"a basket","line":4,"result":{"status":"passed","duration":32849}},
                {"keyword":"Then ","name":"it holds 3 things","line":5,"result":{"status":"failed","duration":19059999,
                "error_message":"\\nexpected: 3\\n     got: 2\\n\\n(compared using ==)\\n./features/steps.rb:9:in `holds'"}}
                ]}]}]
                """,
            test: "Basket/adds", place: "features/basket.feature:5", says: ["expected: 3", "got: 2"]),
        Kind(
            name: "go test",
            results: """
                {"Action":"run","Package":"example.com/app","Test":"TestSum"}
                {"Action":"output","Package":"example.com/app","Test":"TestSum","Output":"=== RUN   TestSum\\n"}
                {"Action":"output","Package":"example.com/app","Test":"TestSum","Output":"    sum_test.go:4: Sum(1, 2) = 3, expected 4\\n"}
                {"Action":"output","Package":"example.com/app","Test":"TestSum","Output":"--- FAIL: TestSum (0.00s)\\n"}
                {"Action":"fail","Package":"example.com/app","Test":"TestSum","Elapsed":0}
                {"Action":"fail","Package":"example.com/app","Elapsed":0.002}
                """,
            test: "example.com/app/TestSum", place: "sum_test.go:4", says: ["Sum(1, 2) = 3, expected 4"]),
    ]

    private static let base = [
        "workflows/x.swift": """
        import Pipeline

        let test = Workflow("test", on: .manual) {
            Step("check", run: "mkdir out; cp results out/results; cat console; exit 1").testResults(.file("out/*"))
        }
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """,
        ".gitignore": "out/\n",
    ]

    @Test(.timeLimit(.minutes(10)))
    func `the first problem names the test, its place and the compared values`() async throws {
        try await Bench.with(Self.base) { bench in
            for (number, kind) in Self.kinds.enumerated() {
                try await bench.commit(["console": kind.console + "\n", "results": kind.results], kind.name)
                _ = try await bench.pipectl("run", "test", "--ref", "main", "--no-proofs")
                let ended = try await bench.pipectl("report", "\(number + 1)", "--bundle", "--format", "json")
                let bundle = try JSONDecoder().decode(RunBundle.self, from: Data(ended.output.utf8))
                let first = try #require(bundle.problems.first, "\(kind.name)")
                #expect(first.kind == .test && first.name == kind.test, "\(kind.name): \(first)")
                #expect("\(first.file ?? "-"):\(first.line ?? 0)" == kind.place, "\(kind.name): \(first)")
                for words in kind.says { #expect(first.message?.contains(words) == true, "\(kind.name): \(first)") }
                // The test has the message, so no finding repeats it.
                #expect(!bundle.problems.contains { $0.kind == .finding && $0.severity == .error }, "\(kind.name)")
                #expect(first.excerpt?.contains("another test") != true, "\(kind.name): \(first)")
            }
        }
    }
}
