import Engine
import Foundation
import TestSupport

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

    static let results: [FuzzTarget] = [
        reading("junit", .junit, words: xml) { try Corpus.results(".xml") },
        reading("events", .swiftTestingEvents, words: events, isJSON: true) { try Corpus.results(".jsonl") },
        reading("console", .swiftpmConsole, words: console) { try Corpus.results(".txt") },
        reading("results", nil, words: xml + console + events) { try Corpus.results(".xml", ".jsonl", ".txt") },
    ]

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
            // What is kept goes into tests.json, and must come out of it.
            let kept = try JSONDecoder().decode([TestResult].self, from: JSONEncoder().encode(results.tests))
            try demand(kept == results.tests, "the results are other ones as JSON")
        }
    }
}
