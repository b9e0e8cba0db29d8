import Testing

@testable import Results
@testable import TestReports

/// What the steps and hooks of a scenario say about it, in the forms of several writers.
@Suite struct CucumberTests {
    private func read(_ text: String, limits: TestResultLimits = .init()) -> TestResults {
        TestResultReader(limits: limits).read(
            Array(text.utf8), named: "c", format: ResultFormat(rawValue: "cucumber"))
    }

    /// A feature with these elements.
    private func feature(_ elements: String..., uri: String = "a.feature") -> String {
        #"{"uri":"\#(uri)","keyword":"Feature","name":"F","elements":[\#(elements.joined(separator: ","))]}"#
    }

    private func element(_ name: String, _ steps: String, type: String = "scenario", more: String = "") -> String {
        #"{"name":"\#(name)","line":3,"type":"\#(type)","steps":[\#(steps)]\#(more)}"#
    }

    private func step(_ status: String, line: Int = 4) -> String {
        #"{"keyword":"When ","name":"I pay","line":\#(line),"result":{"status":"\#(status)","duration":1500000000}}"#
    }

    @Test(
        arguments: [
            (["passed", "passed"], TestResult.Status.passed, nil), (["passed", "skipped"], .skipped, nil),
            (["pending", "skipped"], .skipped, "pending: When I pay"), ([], .skipped, "it has no steps"),
            (["undefined", "skipped"], .errored, "no step definition matches: When I pay"),
            (["pending", "undefined"], .errored, "no step definition matches: When I pay"),
            (["ambiguous"], .errored, "several step definitions match: When I pay"),
            (["undefined", "failed"], .failed, "failed: When I pay"), (["UNKNOWN"], .errored, "UNKNOWN: When I pay"),
        ] as [([String], TestResult.Status, String?)])
    func `the worst step decides`(statuses: [String], status: TestResult.Status, message: String?) throws {
        let text = "[" + feature(element("s", statuses.map { step($0) }.joined(separator: ","))) + "]"
        let test = try #require(read(text)["s"])
        #expect(test.status == status)
        #expect(test.message == message)
        #expect(test.duration == (statuses.isEmpty ? nil : Double(statuses.count) * 1.5))
    }

    @Test func `a step without a result is no success`() {
        #expect(read("[" + feature(element("s", #"{"name":"x"}"#)) + "]")["s"]?.status == .errored)
    }

    @Test func `a background belongs to the scenario after it`() throws {
        let text =
            "["
            + feature(
                element("", step("failed", line: 2), type: "background"), element("one", step("skipped")),
                element("", step("passed", line: 2), type: "background"), element("two", step("passed"))) + "]"
        let results = read(text)
        #expect(results.tests.map(\.name) == ["one", "two"])
        #expect(results.tests.map(\.status) == [.failed, .passed])
        #expect(results.tests.map(\.place) == ["a.feature:2", "a.feature:3"])
        #expect(results.tests.map(\.duration) == [3, 3])
    }

    /// cucumber-ruby leaves out a scenario without steps of its own.
    @Test func `a background that fails alone is a test`() {
        let text =
            "["
            + feature(
                element("", step("failed", line: 2), type: "background"),
                element("", step("passed", line: 2), type: "background"), element("two", step("passed")),
                element("last", step("failed", line: 2), type: "background")) + "]"
        let results = read(text)
        #expect(results.tests.map(\.name) == ["Background", "two", "last"])
        #expect(results.tests.map(\.status) == [.failed, .passed, .failed])
    }

    @Test(arguments: [
        #", "before": [{"match":{"location":"features/env.rb:7"},"result":{"status":"failed"}}]"#,
        #", "after": [{"match":{"location":"features/env.rb:7"},"result":{"status":"failed"}}]"#,
        #", "around": [{"match":{"location":"features/env.rb:7"},"result":{"status":"failed"}}]"#,
    ])
    func `a hook that fails is an error at the hook`(hook: String) throws {
        let test = try #require(read("[" + feature(element("s", step("passed"), more: hook)) + "]")["s"])
        #expect(test.status == .errored)
        #expect(test.place == "features/env.rb:7")
    }

    @Test func `a hook around a step decides, too`() throws {
        let step = #"{"name":"x","after":[{"result":{"status":"failed"}}],"result":{"status":"passed"}}"#
        #expect(read("[" + feature(element("s", step)) + "]")["s"]?.status == .errored)
    }

    @Test func `cucumber-js has hooks among the steps`() throws {
        let text = """
            [
              {
                "description": "", "elements": [
                  {
                    "id": "basket;adds-wrongly", "keyword": "Scenario", "line": 6, "name": "adds wrongly",
                    "steps": [
                      { "keyword": "Before", "hidden": true, "result": { "status": "passed", "duration": 100000 } },
                      {
                        "arguments": [], "keyword": "Then ", "line": 8, "name": "it holds 3 things",
                        "match": { "location": "features/steps.js:12" },
                        "result": {
                          "status": "failed", "duration": 900000,
                          "error_message": "AssertionError [ERR_ASSERTION]: Expected values to be equal:\\n\\n2 !== 3\\n\\n    at World.<anonymous> (/w/features/steps.js:13:10)"
                        }
                      },
                      { "keyword": "After", "hidden": true, "result": { "status": "passed", "duration": 0 } }
                    ],
                    "tags": [], "type": "scenario"
                  }
                ],
                "id": "basket", "line": 1, "keyword": "Feature", "name": "Basket", "uri": "features/basket.feature"
              }
            ]
            """
        let results = TestResultReader().read(Array(text.utf8), named: "c")
        #expect(results.format?.rawValue == "cucumber")
        let test = try #require(results["adds wrongly"])
        #expect(test.status == .failed)
        #expect(test.id == "Basket/adds wrongly")
        #expect(test.place == "features/basket.feature:8")
        #expect(test.message == "AssertionError [ERR_ASSERTION]: Expected values to be equal:\n\n2 !== 3")
        #expect(test.details?.hasPrefix("Then it holds 3 things\n") == true)
        #expect(test.details?.contains("/w/features/steps.js:13:10") == true)
        #expect(test.duration == 0.001)
    }

    @Test func `features with the same name are distinguished by their files`() {
        let text =
            "[" + feature(element("s", step("failed"))) + ","
            + feature(element("s", step("passed")), uri: "classpath:b.feature") + "]"
        let results = read(text)
        #expect(results.tests.map(\.id) == ["a.feature/F/s", "b.feature/F/s"])
        #expect(results.counts.failed == 1)
    }

    @Test func `text around lists on one line is skipped`() {
        let list = "[" + feature(element("s", step("failed"))) + "]"
        let text =
            "[INFO] Scanning for projects\n\(list)\nbye\n[\(feature(element("t", step("passed"))))]\n[1/2]"
        let results = TestResultReader().read(Array(text.utf8), named: "c")
        #expect(results.tests.map(\.name) == ["s", "t"])
        #expect(results.findings.isEmpty)
    }

    @Test(arguments: ["[]", "[ ]\n", "[1]", #"[{"uri":"a.feature","keyword":"Feature","elements":[]}]"#, "{}"])
    func `a report without scenarios gives a finding`(text: String) {
        let results = read(text)
        #expect(results.tests.isEmpty)
        #expect(results.findings.map(\.message) == ["c has no scenarios: none ran."])
    }

    /// What is kept of one value is less than these screenshots.
    @Test func `screenshots do not hide a failure after them`() throws {
        let data = String(repeating: "A", count: 60_000)
        let shots = Array(repeating: #"{"mime_type":"image/png","data":"\#(data)"}"#, count: 160).joined(separator: ",")
        let shown = #"{"name":"x","embeddings":[\#(shots)],"result":{"status":"passed"}}"#
        let text = "[" + feature(element("s", shown + "," + step("failed"))) + "]"
        #expect(read(text)["s"]?.status == .failed)
    }

    @Test func `the text of one feature stays within the limit`() {
        let text = String(repeating: "m", count: 250)
        let step =
            #"{"name":"x","output":["\#(text)"],"result":{"status":"failed","error_message":"\#(text)"}}"#
        let elements = (1...50).map { element("s\($0)", step) }.joined(separator: ",")
        let limits = TestResultLimits(fieldBytes: 300, totalBytes: 4_000)
        let results = read("[" + feature(elements) + "]", limits: limits)
        #expect(results.tests.count == 50)
        #expect(results.tests.allSatisfy { $0.status == .failed && $0.suite == "F" })
        #expect(results.tests.first?.message == text)
        let bytes = results.tests.reduce(0) { $0 + ($1.message?.utf8.count ?? 0) + ($1.details?.utf8.count ?? 0) }
        #expect(bytes <= limits.totalBytes)
        #expect(results.findings.map(\.rule) == ["result-file"])
    }

    @Test func `more scenarios than allowed give a finding`() {
        let elements = (1...30).map { element("s\($0)", step("passed")) }.joined(separator: ",")
        let results = read("[" + feature(elements) + "]", limits: TestResultLimits(tests: 20))
        #expect(results.tests.count == 20)
        #expect(results.findings.map(\.rule) == ["result-file"])
    }
}
