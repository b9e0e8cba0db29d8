import Foundation
import TestIntegrity
import Pipeline
import TestBasics
import TestSupport

/// The sources of a change, held against the target's.
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
        .pure("swift-tests", words: swift, limit: 64 << 10, corpus: sources(".swift")) { bytes, random in
            let path = random.pick(["Tests/A/ATests.swift", "Sources/A/A.swift"])
            try hold(bytes, against: other(bytes, &random), at: path)
        },
        .pure(
            "manifest",
            words: swift + ["exclude: [", "sources: [", ".testTarget(name: ", "path: ", "let package = Package("],
            limit: 64 << 10, corpus: sources("Package.swift")
        ) { bytes, random in
            try hold(bytes, against: other(bytes, &random), at: "Package.swift")
        },
        .pure(
            "other-tests",
            words: [
                "def test_a():\n", "@pytest.mark.skip\n", "class TestA:\n", "#[test]\n", "#[ignore]\n", "fn a() {\n",
                "func TestA(t *testing.T) {\n", "it('a', () => {\n", "it.skip('", "TEST(A, b) {\n", "DISABLED_", "/*",
                "*/",
                "\r\n", "\t", "--deselect", "addopts = -k x", "|| true",
            ], limit: 64 << 10, corpus: others
        ) { bytes, random in
            let paths = ["test_a.py", "tests/a.rs", "a_test.go", "a.test.ts", "tests/a.cc", "pytest.ini", "Makefile"]
            try hold(bytes, against: other(bytes, &random), at: random.pick(paths))
        },
    ]

    /// The target's side: the same text with a part less, so that most of the two is equal, as in a change.
    private static func other(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
        guard !bytes.isEmpty, !random.once(in: 8) else { return [] }
        let start = random.below(bytes.count)
        let end = min(bytes.count, start + random.below(200))
        return Array(bytes[..<start] + bytes[end...])
    }

    private static func hold(_ new: [UInt8], against old: [UInt8], at path: String) throws {
        // Another process on the machine makes no time limit shorter.
        let check = IntegrityCheck(rules: [.standard], timeLimit: .seconds(3_600))
        for (old, new) in [(old, new), (new, old)] {
            let file = ChangedSource(path: path, old: .bytes(old), new: .bytes(new))
            let outcome = check.outcome(of: [file])
            try demand(outcome.breaches.count <= IntegrityCheck.breachLimit + 1, "\(outcome.breaches.count) findings")
            for breach in outcome.breaches {
                try demand((breach.line ?? 1) >= 1, "the line \(breach.line ?? 0)")
                try demand(breach.message.utf8.count <= 8_000, "a message of \(breach.message.utf8.count) bytes")
            }
        }
        let same = ChangedSource(path: path, old: .bytes(new), new: .bytes(new))
        let breaches = check.breaches(of: [same]).filter { $0.kind != .unreadable }
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
