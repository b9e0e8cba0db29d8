import Foundation
import TestBasics
import TestSupport

@testable import Results
@testable import TestReports

extension FuzzTarget {
    private static let xml = [
        "<", ">", "</", "/>", "&", "<![CDATA[", "]]>", "<!DOCTYPE", "<!ENTITY x 'y'>", "&x;",
        "<?xml encoding='utf-16'?>",
        "<testcase>", "<testcase name='t' classname='c'>", "</testcase>", "<testsuite name='x'>", "</testsuite>",
        "<failure message='m'>", "<system-out>", "<stackTrace>", "<rerunFailure>", "<flakyError>", "<skipped/>",
        " time=\"1e999\"", " time='1,234.5'", " line=\"-1\"", " name=''", "=", "\"", "'", "=== RUN\n", "\nE  x",
        "thread 't' panicked at src/lib.rs:4:5:", "A.swift:1: ", ":9223372036854775808:",
    ]
    private static let console = [
        "Test Suite 'x' started at 2026-11-21 14:03:22.123\n", "Test Case 'A.b' started\n", "Test Case 'A.b' failed (",
        "Test Case '-[A b]' passed (0.1 seconds)\n", "\u{25C7} Test run started.\n", "\u{2714} Test ",
        "\u{2718} Test \"",
        " recorded an issue at ", " with 1 test case passed after ", " seconds.\n", "A.swift:1:2: ", ": error: ", "\n",
        "\u{21B3} ",
    ]
    private static let events = [
        "{\"version\":\"6.3\",\"kind\":\"event\",\"payload\":{\"kind\":\"testEnded\",\"testID\":\"x\"}}\n", "\n",
        "{}\n",
        "\"testStarted\"", "\"issueRecorded\"", "\"runEnded\"", "\"line\":-9223372036854775808", "\"absolute\":1e308",
    ]

    static let results: [FuzzTarget] =
        formats.map { $0.target } + [
            reading("results", nil, words: xml + console + events + json + tap) {
                try Corpus.results(".xml", ".jsonl", ".txt", ".trx", ".json", ".tap")
            },
            log,
        ]

    /// The targets of single formats.
    static let formats: [(format: ResultFormat, target: FuzzTarget)] = [
        of(.junit, "junit", words: xml) { try Corpus.results(".xml") },
        of(.swiftTestingEvents, "events", words: events, isJSON: true) { try Corpus.results(".jsonl") },
        of(.swiftpmConsole, "console", words: console) { try Corpus.results(".txt") },
        of(ResultFormat(rawValue: "trx"), "trx", words: xml + dotNet) { try Corpus.results(".trx") },
        of(ResultFormat(rawValue: "nunit3"), "nunit3", words: xml + dotNet) { try Corpus.results("nunit3.xml") },
        of(ResultFormat(rawValue: "nunit2"), "nunit2", words: xml + dotNet) { try Corpus.results("nunit2.xml") },
        of(ResultFormat(rawValue: "xunit"), "xunit", words: xml + dotNet) {
            try Corpus.results("xunit1.xml", "xunit2.xml")
        },
        of(ResultFormat(rawValue: "goTest"), "gotest", words: go, isJSON: true) {
            try Corpus.results("gotest.json")
        },
        of(ResultFormat(rawValue: "dart"), "dart", words: json, isJSON: true) { try Corpus.results("dart.json") },
        of(ResultFormat(rawValue: "mocha"), "mocha", words: json, isJSON: true) {
            try Corpus.results("mocha.json")
        },
        of(ResultFormat(rawValue: "jest"), "jest", words: json, isJSON: true) { try Corpus.results("jest.json") },
        of(ResultFormat(rawValue: "rspec"), "rspec", words: json, isJSON: true) {
            try Corpus.results("rspec.json")
        },
        of(ResultFormat(rawValue: "cucumber"), "cucumber", words: cucumber, isJSON: true) {
            try Corpus.results("cucumber.json", "cucumber-jvm.json")
        },
        of(ResultFormat(rawValue: "ctrf"), "ctrf", words: json, isJSON: true) { try Corpus.results("ctrf.json") },
        of(ResultFormat(rawValue: "xcresult"), "xcresult", words: json, isJSON: true) {
            try Corpus.results("xcresult.json", "xcresult-summary.json")
        },
        of(ResultFormat(rawValue: "tap"), "tap", words: tap) { try Corpus.results(".tap") },
    ]

    private static let dotNet = [
        "<UnitTestResult testId='t' testName='n' outcome='Failed'>", "<InnerResults>", "<TestMethod className='a, b'/>",
        " duration='9.99:99:99.9'", " outcome='Timeout'", "<test-case name='a.b(1,2)' fullname='a.b(1,2)'>",
        "<test-suite site='TearDown' result='Failed'>", "<message>", "<stack-trace>", "<reason>", "<errors><error>",
        " in C:\\a (b)\\c.cs:Zeile 3", "(((", ")))", " result='Fail'",
    ]
    private static let json = [
        "{", "}", "[", "]", "\\u0000", "\\ud800", "\\udc00", "1e999", "-0", "null", "true", ",", ":",
        "\"status\":\"failed\"",
        "\"retryAttempts\":[{}]", "\"currentRetry\":99999999999", "\"id\":1e300", "\u{1B}[31m",
        "\n    at f (a.js:3:5)", "Test suite failed to run\n\n", "\"testID\":3", "\"err\":{}",
    ]
    private static let cucumber =
        json + [
            "[{\"elements\":[{\"steps\":[{", "\"type\":\"background\"", "\"status\":\"undefined\"", "\"before\":[{}]",
            "\"hidden\":true", "\"duration\":1e308", "\"line\":-1", "\"output\":[\"a\"]", "\na.rb:3:in `b'",
            "[INFO] a\n",
        ]
    private static let go =
        json + [
            "\"Action\":\"output\"", "\"Action\":\"fail\"", "\"Action\":\"run\"", "\"Test\":\"T/a\"",
            "\nFAIL\tp [build failed]\n",
            "\n# p\n", "panic: x", "    a_test.go:3: m",
        ]
    private static let tap = [
        "TAP version 14\n", "1..3\n", "1..0 # SKIP\n", "ok 1 - a\n", "not ok 2 - b # TODO c\n", "    ok 1 - deep\n",
        "  ---\n",
        "  ...\n", "# Subtest: s\n", "Bail out! x\n", "    ", " # time=1e99ms", " in 3ms\n", "  at:\n    line: 3\n",
        "error: |-\n",
        "ok 999999999999\n", "#   at a.t line 5.\n",
    ]

    /// A step's output, beside results without messages.
    private static let log = FuzzTarget.pure(
        "testlog",
        words: console + [
            "1/2 Test #1: a ...***Timeout   1.00 sec\n", "XCTAssertEqual failed: (\"", "\") is not equal to (\"",
        ],
        corpus: { try Corpus.results(".txt") },
        check: { bytes, _ in
            let names = TestResultReader().read(bytes, named: "f", format: .swiftpmConsole).tests.prefix(200)
            let bare = names.map { TestResult(suite: $0.suite, name: $0.name, status: .failed, message: "failure") }
            let told = TestLog(bytes).completing(bare)
            try demand(told.map(\.id) == bare.map(\.id), "tests came, went or were renamed")
            for test in told {
                try demand(
                    (test.message?.utf8.count ?? 0) <= 128 << 10, "a message of \(test.message?.utf8.count ?? 0) bytes")
            }
        })

    private static func of(
        _ format: ResultFormat, _ name: String, words: [String], isJSON: Bool = false,
        corpus: @escaping @Sendable () throws -> [[UInt8]]
    ) -> (format: ResultFormat, target: FuzzTarget) {
        (format, reading(name, format, words: words, isJSON: isJSON, corpus: corpus))
    }

    private static func reading(
        _ name: String, _ format: ResultFormat?, words: [String], isJSON: Bool = false,
        corpus: @escaping @Sendable () throws -> [[UInt8]]
    ) -> FuzzTarget {
        .pure(name, words: words, isJSON: isJSON, corpus: corpus) { bytes, random in
            let small = TestResultLimits(
                fileBytes: 64 << 10, tests: 20, fieldBytes: 300, nameBytes: 60, totalBytes: 4_000, depth: 6)
            let limits = random.once(in: 2) ? small : TestResultLimits()
            let results = TestResultReader(limits: limits).read(bytes, named: "f", format: format)
            try demand(results.tests.count <= limits.tests, "\(results.tests.count) tests were kept")
            try demand(results.findings.count <= 102, "\(results.findings.count) findings")
            var total = 0
            for test in results.tests {
                for text in [test.suite, test.name, test.file ?? ""] {
                    try demand(text.utf8.count <= limits.nameBytes, "a name of \(text.utf8.count) bytes")
                }
                for text in [test.message ?? "", test.details ?? ""] {
                    try demand(text.utf8.count <= limits.fieldBytes, "a text of \(text.utf8.count) bytes")
                    total += text.utf8.count
                }
                try demand(!test.name.utf8.contains(0) && !test.suite.utf8.contains(0), "a name with NUL")
                try demand(
                    test.attempt >= 1 && (test.line ?? 1) >= 1, "attempt \(test.attempt), line \(test.line ?? 0)")
                try demand(0...1e9 ~= test.duration ?? 0, "a duration of \(test.duration ?? 0)")
            }
            try demand(total <= limits.totalBytes, "\(total) bytes of text")
            for finding in results.findings {
                try demand(finding.message.utf8.count <= 4 << 10, "a finding of \(finding.message.utf8.count) bytes")
            }
            // Results are stored in tests.json and must be the same when they are read again.
            let kept = try JSONDecoder().decode([TestResult].self, from: JSONEncoder().encode(results.tests))
            try demand(kept == results.tests, "the results are other ones as JSON")
        }
    }
}
