import Foundation
import Pipeline
import TestBasics
import TestSupport

@testable import Diagnostics
@testable import Results

extension FuzzTarget {
    private static let output = [
        "a.swift:3:5: error: x", ": error: ", "error: ", "error[E0308]: ", " --> src/main.rs:3:5", "warning: ",
        "note: ", "fatal error: ", "Fatal error: ", "Program crashed: ", "ERROR: AddressSanitizer: ", "CMake Error at ",
        "CMakeLists.txt:3 (message):", "make: *** [Makefile:3: all] Error 1", ": Assertion `x' failed.",
        "Assertion failed: (x), function f, file a.c, line 12.", " recorded an issue at A.swift:12:5: ",
        "Traceback (most recent call last):\n", "  File \"a.py\", line 3, in f\n", "E   assert 1", ">   x",
        "a.py:3: in f",
        "=====", "_____", "Fatal Python error: ", "#0 0x1 in f /w/a.c:3", "0 0x1 f in prog at /w/a.swift:3",
        "at f (a.js:3:5)",
        "/w/src/a.js\n", "  3:5  error  x  rule", "TypeError: x", "(3,5)", ":3:5", ": line 3: ", " | ", "^", "~",
        " Test a started.", " Test a passed after ", "Test Case 'A.b' started", "Start 1: a", "a.py::b", "\n", "\r\n",
        "\t",
        "undefined reference to", "99999999999999999999", "-9223372036854775808", "rror: ",
    ]
    private static let templates = [
        ["{file}:{line}:{column}: {severity}: {message}"], ["{*}{rule}{*} {message}"],
        ["{file}", " {line}: {message}"],
        ["at {file} line {line}", "{*}", "{message}"], ["{message}"],
    ]

    static let findings: [FuzzTarget] = [
        .pure("diagnostics", words: output, corpus: outputs) { bytes, random in
            var scanner = DiagnosticScanner()
            scanner.maximumFindings = random.pick([1, 20, 1_000])
            scanner.maximumBytes = random.pick([0, 100, 5_000, 1 << 20])
            let found = scanner.findings(in: bytes)
            try demand(found.count <= scanner.maximumFindings, "\(found.count) findings")
            try hold(found)
            let unfinished = UnfinishedTests.findings(in: bytes)
            try demand(unfinished.count <= 10, "\(unfinished.count) unfinished tests")
            try hold(unfinished)
        },
        .pure("rules", words: output, limit: 64 << 10, corpus: outputs) { bytes, random in
            var rule = FindingRule("r", "")
            rule.templates = random.pick(templates)
            var scanner = DiagnosticScanner(rules: [rule])
            scanner.hasForms = random.once(in: 2)
            try hold(scanner.findings(in: bytes))
        },
        .pure(
            "sarif", words: ["{\"runs\":[{\"results\":[", "]}]}", "\"startLine\":-9223372036854775808", "%00", "%C3"],
            isJSON: true, limit: 256 << 10, corpus: sarif
        ) { bytes, _ in
            do { try hold(SARIFReading.findings(in: Data(bytes), named: "f")) } catch let problem as SARIFProblem {
                try demand("\(problem)".utf8.count < 1_000, "a problem of \("\(problem)".utf8.count) bytes")
            }
        },
    ]

    @Sendable private static func outputs() throws -> [[UInt8]] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "DiagnosticsTests/Fixtures")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".txt") }.sorted()
            .map { Array(try Data(contentsOf: folder.appending(path: $0))) }
    }

    @Sendable private static func sarif() throws -> [[UInt8]] {
        Corpus.texts(
            #"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t","rules":[{"id":"r","shortDescription":{"text":"s"},"defaultConfiguration":{"level":"error"}}]}},"results":[{"ruleId":"r","ruleIndex":0,"level":"warning","message":{"text":"m"},"locations":[{"physicalLocation":{"artifactLocation":{"uri":"file:///w/a%20b.c"},"region":{"startLine":3,"startColumn":5,"snippet":{"text":"x"}}}}],"fixes":[{"description":{"text":"f"}}],"suppressions":[{"status":"accepted"}]}]}]}"#,
            #"{"runs":[]}"#, #"{"runs":[{"results":[{"message":{"text":"m"}}]}]}"#)
    }

    /// Rules for every finding, wherever it was read from: pages, bundles and comparisons rely on them.
    private static func hold(_ findings: [Finding]) throws {
        for finding in findings {
            try demand(finding.message.utf8.count <= 8_100, "a message of \(finding.message.utf8.count) bytes")
            try demand(finding.rule.utf8.count <= 210, "a rule of \(finding.rule.utf8.count) bytes")
            try demand((finding.file ?? "").utf8.count <= 4_100, "a path of \(finding.file?.utf8.count ?? 0) bytes")
            try demand(
                (finding.excerpt ?? "").utf8.count <= 4_100, "an excerpt of \(finding.excerpt?.utf8.count ?? 0) bytes")
            for number in [finding.line, finding.column] {
                try demand((1...1_000_000_000).contains(number ?? 1), "the line or column \(number ?? 0)")
            }
        }
        let kept = try JSONDecoder().decode([Finding].self, from: JSONEncoder().encode(findings))
        try demand(kept == findings, "the findings are other ones as JSON")
    }
}
