import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// Earlier failures start first: later runs use the results of earlier ones.
struct OrderTests {
    private static let source = """
        import Pipeline

        let test = Workflow("test", on: .pullRequest(into: "main"), .push(to: "main")) { context in
            let first = context.tests.ranked
            if !first.isEmpty {
                Step("first", command: ["sh", "first.sh"] + first.pytestArguments).allowFailure()
            }
            Step("lists") { step in
                for test in step.context.tests.failedBefore { step.log("failed \\(test.suite) \\(test.name)") }
                for test in step.context.tests.near { step.log("near \\(test.name) in \\(test.file ?? "")") }
            }
            Step("alpha", run: "echo alpha $PIPECTL_RUN >> ROOT/started")
            Step("beta", run: "echo beta $PIPECTL_RUN >> ROOT/started; sh beta.sh").testResults(.junit("results.xml"))
        }
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """

    /// A result file in which the tests of one file fail.
    private static func results(failing: String) -> String {
        let hostile = "test_$(touch ROOT/pwned)"
        var text = "<testsuite name='pytest'>"
        for (file, name) in [("test_types", "test_a"), ("test_core", hostile), ("test_gone", "test_b")] {
            text += "<testcase classname='tests.\(file)' name='\(name)' file='tests/\(file).py' time='0.1'>"
            if file == failing { text += "<failure message='no'/>" }
            text += "</testcase>"
        }
        return text + "</testsuite>"
    }

    @Test(.timeLimit(.minutes(8)))
    func `a step that failed on a change starts first in the next run`() async throws {
        let clean = "cp good.xml results.xml\n"
        try await Bench.with([
            "beta.sh": clean, "first.sh": "for id; do echo \"$id\"; done\n", "src/types.py": "1\n",
            "tests/test_types.py": "1\n", "tests/test_core.py": "1\n",
        ]) { bench in
            for name in ["started"] {
                _ = FileManager.default.createFile(atPath: "\(bench.meet)/\(name)", contents: nil)
                try FileManager.default.setAttributes(
                    [.posixPermissions: 0o666], ofItemAtPath: "\(bench.meet)/\(name)")
            }
            func filled(_ text: String) -> String { text.replacing("ROOT", with: bench.meet) }
            _ = try await bench.commit(
                [
                    "workflows/x.swift": filled(Self.source), "good.xml": filled(Self.results(failing: "")),
                    "bad.xml": filled(Self.results(failing: "test_core")),
                ], "Workflows")
            _ = try await bench.look()
            func look(_ run: Int) async throws -> [String] {
                let ended = try await bench.look("--slots", "1")
                let text = try String(contentsOfFile: "\(bench.meet)/started", encoding: .utf8)
                var started: [String] = []
                for line in text.split(separator: "\n") where line.hasSuffix(" \(run)") {
                    started.append(String(line.dropLast(" \(run)".count)))
                }
                #expect(started.count == 2, "\(ended.output)\(ended.errors)")
                return started
            }
            try await bench.change(1, ["beta.sh": "cp bad.xml results.xml; exit 1\n", "src/types.py": "2\n"])
            #expect(try await look(1) == ["alpha", "beta"], "nothing is known: the plan's order")
            #expect(try await bench.run(1).stepCounts.passed == 2, "a first run has no first step")

            // The same change again: the failed step starts first and gets the names of the failed tests.
            try await bench.change(1, ["beta.sh": "cp bad.xml results.xml; exit 1\n", "src/types.py": "3\n"])
            #expect(try await look(2) == ["beta", "alpha"])
            let lists = try await bench.pipectl("logs", "2", "lists").output
            let name = filled("test_$(touch ROOT/pwned)")
            #expect(lists.contains("failed tests.test_core \(name)\n"), "\(lists)")
            #expect(lists.contains("near test_a in tests/test_types.py\n"))
            let ids = try await bench.pipectl("logs", "2", "first").output.split(separator: "\n").map(String.init)
            #expect(ids.first == "tests/test_core.py::\(name)")
            #expect(ids.contains("tests/test_types.py::test_a"))
            #expect(!ids.contains { $0.contains("test_gone") }, "its file is not in the tree")
            #expect(!FileManager.default.fileExists(atPath: "\(bench.meet)/pwned"))

            // Another change without failures: a step that sometimes fails still starts before one that never does.
            try await bench.change(2, ["docs.md": "x\n"])
            #expect(try await look(3) == ["beta", "alpha"])
            #expect(try await !bench.pipectl("logs", "3", "lists").output.contains("failed "))
        }
    }
}
