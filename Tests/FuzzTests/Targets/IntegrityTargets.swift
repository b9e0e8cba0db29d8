import Engine
import Foundation
import Pipeline
import TestBasics
import TestSupport

@testable import TestIntegrity
import WorkflowPrograms
@testable import swift_reader
@testable import Evaluating

/// The sources of a change, compared with the target's.
extension FuzzTarget {
    private static let swift = [
        "@Test ", "@Suite ", "#expect(", "#require(", "XCTAssertEqual(", "func test", "import Testing\n",
        "import XCTest\n",
        "#if false\n", "#elseif x\n", "#else\n", "#endif\n", "/*", "*/", "//", "\"\"\"", "#\"", "\"#", "\\(", "\\#(",
        "`", "func XCTFail() {", "let XCTFail = {", "macro expect(", "override func invokeTest() {",
        "super.invokeTest()",
        "var defaultTestSuite: X {", "class B: A {", "func == (", "let (XCTFail, x) =",
        ".disabled(", "withKnownIssue {", "arguments: [", "for x in 0..<9 {", "guard x else { return }", "try? ",
        "catch {}", "return\n", "class A: XCTestCase {", "{", "}", "(", ")", "[", "]", "/x/", "#/", "\r\n",
        "if false {",
        "|| true", "accuracy: 1e308", ".timeLimit(.minutes(9223372036854775807))", "Task.sleep(", "0x1p-1074",
    ]

    static let integrity: [FuzzTarget] = [
        FuzzTarget(name: "swift-tests", corpus: sources(".swift"), words: swift, limit: 64 << 10) { loop in
            try await loop { input, random in
                try await read(input.bytes, .tests)
                let path = random.pick(["Tests/A/ATests.swift", "Sources/A/A.swift"])
                try await hold(input.bytes, against: other(input.bytes, &random), at: path)
            }
        },
        FuzzTarget(
            name: "manifest", corpus: sources("Package.swift"),
            words: swift + ["exclude: [", "sources: [", ".testTarget(name: ", "path: ", "let package = Package("],
            limit: 64 << 10
        ) { loop in
            try await loop { input, random in
                try await read(input.bytes, .manifest)
                try await hold(input.bytes, against: other(input.bytes, &random), at: "Package.swift")
            }
        },
        FuzzTarget(
            name: "other-tests", corpus: others,
            words: [
                "def test_a():\n", "@pytest.mark.skip\n", "class TestA:\n", "#[test]\n", "#[ignore]\n", "fn a() {\n",
                "func TestA(t *testing.T) {\n", "it('a', () => {\n", "it.skip('", "TEST(A, b) {\n", "DISABLED_", "/*",
                "*/",
                "\r\n", "\t", "--deselect", "addopts = -k x", "|| true",
            ], limit: 64 << 10
        ) { loop in
            try await loop { input, random in
                let paths = [
                    "test_a.py", "tests/a.rs", "a_test.go", "a.test.ts", "tests/a.cc", "pytest.ini", "Makefile",
                ]
                let path = random.pick(paths)
                try CPUBudget.hold(input, &random) { bytes, _ in
                    _ = LineTests.tests(path: path, bytes: bytes)
                    _ = RunnerSettings.breaches(path: path, old: [], new: bytes)
                }
                try await hold(input.bytes, against: other(input.bytes, &random), at: path)
            }
        },
        FuzzTarget(
            name: "reader-answer", corpus: answers,
            words: ["{\"facts\":", "\"problem\":", "9223372036854775807", "-1"],
            isJSON: true
        ) { loop in
            try await loop { input, random in
                // Answers of a reader that a file has taken over.
                let check = IntegrityCheck(rules: [.standard], reader: FixedReader(answer: input.bytes))
                let file = ChangedSource(path: "Tests/A/ATests.swift", old: .bytes([0x20]), new: .bytes([0x0A]))
                let outcome = await check.outcome(of: [file])
                try demand(outcome.breaches.count <= IntegrityCheck.breachLimit + 1, "too many findings")
            }
        },
    ]

    /// Lets the program read a file, with its limits: for every file there must be an answer in time.
    private static func read(_ bytes: [UInt8], _ scope: SwiftSource.Scope) async throws {
        let start = ContinuousClock.now
        let sources = [SwiftSource(scope, bytes), SwiftSource(.tests, Array("import Testing\n".utf8))]
        let results = await reader.read(sources, before: start + patience)
        try demand(results.count == 2, "\(results.count) answers for 2 files")
        try demand(ContinuousClock.now - start < patience + .seconds(10), "it took \(ContinuousClock.now - start)")
        let told = SwiftReaderProtocol.results(of: results.flatMap(SwiftReaderProtocol.line))
        try demand(told == results, "what was read changes on its way: \(results)")
    }

    private static let patience = Duration.seconds(20)
    private static let reader = SwiftReaderProcess(beside: nil, .none)

    /// Gives the same answer to everything.
    private struct FixedReader: SwiftSourceReader {
        let answer: [UInt8]

        func read(
            _ sources: [SwiftSource], before deadline: ContinuousClock.Instant
        ) async -> [Result<SwiftFileFacts, UnreadableSource>] {
            Array(SwiftReaderProtocol.results(of: answer + [0x0A] + answer + [0x0A]).prefix(sources.count))
        }
    }

    @Sendable private static func answers() throws -> [[UInt8]] {
        try sources(".swift")().prefix(3).map { bytes in
            Array(SwiftReaderProtocol.line(FileReading.facts(of: SwiftSource(.tests, bytes))).dropLast())
        } + Corpus.texts("{\"problem\":{\"message\":\"x\",\"line\":1}}")
    }

    /// The target's side: the same text without a part, so that most of the two is equal, as in a change.
    private static func other(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        guard !bytes.isEmpty, !random.once(in: 8) else { return [] }
        let start = random.below(bytes.count)
        let end = min(bytes.count, start + random.below(200))
        return Array(bytes[..<start] + bytes[end...])
    }

    private static func hold(_ new: [UInt8], against old: [UInt8], at path: String) async throws {
        let check = IntegrityCheck(rules: [.standard], reader: reader, timeLimit: patience)
        for (old, new) in [(old, new), (new, old)] {
            let file = ChangedSource(path: path, old: .bytes(old), new: .bytes(new))
            let outcome = await check.outcome(of: [file])
            try demand(outcome.breaches.count <= IntegrityCheck.breachLimit + 1, "\(outcome.breaches.count) findings")
            for breach in outcome.breaches {
                try demand((breach.line ?? 1) >= 1, "the line \(breach.line ?? 0)")
                try demand(breach.message.utf8.count <= 8_000, "a message of \(breach.message.utf8.count) bytes")
            }
        }
        let same = ChangedSource(path: path, old: .bytes(new), new: .bytes(new))
        let breaches = await check.breaches(of: [same]).filter { $0.kind != .unreadable }
        try demand(breaches.isEmpty, "a file that is as it was has \"\(breaches.first?.message ?? "")\"")
    }

    @Sendable private static func sources(_ suffix: String) -> @Sendable () throws -> [[UInt8]] {
        {
            let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent()
            if suffix == "Package.swift" {
                return [Array(try Data(contentsOf: root.deletingLastPathComponent().appending(path: suffix)))]
            }
            let folders = ["MCPTests", "PipelineTests", "TestIntegrityTests"].map { root.appending(path: $0) }
            return try folders.flatMap { folder in
                try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }
                    .sorted()
                    .map { Array(try Data(contentsOf: folder.appending(path: $0)).prefix(16 << 10)) }
            }
        }
    }

    @Sendable private static func others() throws -> [[UInt8]] {
        Corpus.texts(
            "import pytest\n\nclass TestA:\n    @pytest.mark.skip\n    def test_a(self):\n        assert 1 == 1\n",
            "#[test]\n#[ignore]\nfn a() {\n    assert_eq!(1, 1);\n}\n", "func TestA(t *testing.T) {\n\tt.Skip()\n}\n",
            "describe('a', () => {\n  it.skip('b', () => {})\n})\n", "TEST(A, DISABLED_b) {\n  EXPECT_EQ(1, 1);\n}\n",
            "[pytest]\naddopts = -k 'not slow'\n", "test:\n\tpytest || true\n")
    }
}
