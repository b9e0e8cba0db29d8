@testable import Results
import TestReports
import Testing

/// Tests with the same suite and name are two tests, unless the format says that one is a further try of the other.
@Suite struct SameNameTests {
    private static let jest = """
        <testsuites>
        <testsuite name="src/a.test.js" tests="1" failures="1"><testcase classname="render" name="works">
          <failure>Error: expect(received).toBe(expected)
            at Object.&lt;anonymous&gt; (src/a.test.js:4:9)</failure></testcase></testsuite>
        <testsuite name="src/b.test.js" tests="2"><testcase classname="render" name="works"/>
          <testcase classname="render" name="alone"/></testsuite>
        </testsuites>
        """

    @Test func `a failure is no try of a test in another suite`() {
        let results = junit(Self.jest)
        #expect(results.counts.failed == 1)
        #expect(results.counts.passed == 2)
        #expect(results.counts.flaky == 0)
        // The suite tells them apart; what collides with nothing keeps its name.
        #expect(
            results.tests.map(\.id) == ["src/a.test.js/render/works", "src/b.test.js/render/works", "render/alone"])
        #expect(results.tests.allSatisfy { $0.attempt == 1 })
        #expect(results.tests[0].message == "Error: expect(received).toBe(expected)")
    }

    @Test func `the order of suites does not change names`() {
        let suites = ["a", "b"].map { "<testsuite name='\($0)'><testcase classname='C' name='t'/></testsuite>" }
        let one = junit("<testsuites>\(suites[0])\(suites[1])</testsuites>")
        let two = junit("<testsuites>\(suites[1])\(suites[0])</testsuites>")
        #expect(Set(one.tests.map(\.id)) == Set(two.tests.map(\.id)))
    }

    @Test func `the file distinguishes tests of one suite`() {
        let results = junit(
            """
            <testsuite name="s"><testcase classname="C" name="t" file="a.py"><failure message="m"/></testcase>
            <testcase classname="C" name="t" file="b.py"/></testsuite>
            """)
        #expect(results.tests.map(\.id) == ["a.py/C/t", "b.py/C/t"])
        #expect(results.counts.failed == 1)
    }

    @Test func `a number distinguishes all other tests`() {
        let results = junit(
            """
            <testsuites><testsuite name="s"><testcase classname="C" name="t"><failure message="m"/></testcase>
            <testcase classname="C" name="t"/><testcase classname="C" name="t #2"/></testsuite></testsuites>
            """)
        #expect(results.tests.map(\.id) == ["C/t", "C/t #3", "C/t #2"])
        #expect(results.counts.failed == 1)
        #expect(results.counts.flaky == 0)
    }

    @Test func `marked retries stay together when they are renamed`() {
        let tries = "<testcase classname='C' name='t'><flakyFailure message='m'/></testcase>"
        let results = junit(
            "<testsuites><testsuite name='a'>\(tries)</testsuite><testsuite name='b'>\(tries)</testsuite></testsuites>")
        #expect(results.tests.map(\.id) == ["a/C/t", "a/C/t", "b/C/t", "b/C/t"])
        #expect(results.tests.map(\.attempt) == [1, 2, 1, 2])
        #expect(results.counts.flaky == 2)
    }

    @Test func `a test that Go repeats is not a try`() {
        let lines = ["fail", "pass"].map { action in
            """
            {"Action":"run","Package":"p","Test":"TestA"}
            {"Action":"\(action)","Package":"p","Test":"TestA"}
            """
        }
        let text = lines.joined(separator: "\n") + "\n{\"Action\":\"fail\",\"Package\":\"p\"}\n"
        let results = TestResultReader().read(Array(text.utf8), named: "t")
        #expect(results.counts.failed == 1 && results.counts.passed == 1)
    }

    @Test func `Jest's files distinguish its tests`() {
        func file(_ name: String, _ status: String) -> String {
            #"{"assertionResults":[{"ancestorTitles":["render"],"title":"works","status":"\#(status)"}],"name":"\#(name)"}"#
        }
        let text =
            #"{"numTotalTests":2,"testResults":[\#(file("/w/src/a.test.js", "failed")),\#(file("/w/src/b.test.js", "passed"))]}"#
        let results = TestResultReader().read(Array(text.utf8), named: "t")
        #expect(results.tests.map(\.id) == ["a.test.js/render/works", "b.test.js/render/works"])
        #expect(results.counts.failed == 1)
    }
}
