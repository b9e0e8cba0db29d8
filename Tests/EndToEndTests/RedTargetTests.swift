import TestBasics
import Store
import Reports
import Results
import Foundation
import TestSupport
import Testing

/// A change into a branch that already fails.
struct RedTargetTests {
    private static func files(_ bench: Bench) -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .merge(into: "main")) {
                Step("unit tests", run: "sh check.sh").testResults(.junit("results.xml"))
            }.onFailure(Fix(by: "touch \(bench.meet)/fixer-began"))
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """,
            // Two tests that fail unless the value is good, and one that passes.
            "check.sh": """
            say=; code=0
            grep -qx good value.txt || { say="<failure message='bad'/>"; code=1; }
            { echo "<testsuite><testcase classname='C' name='reads'/>"
            for name in adds sums; do echo "<testcase classname='C' name='$name'>$say</testcase>"; done
            echo "</testsuite>"; } > results.xml
            exit $code

            """,
            "value.txt": "good\n", "README.md": "one\n",
        ]
    }

    @Test(.timeLimit(.minutes(8)))
    func `a docs-only change into a red main is told so, and no fixer begins`() async throws {
        try await Bench.with { bench in
            try await bench.commit(Self.files(bench), "Begin")
            _ = try await bench.look()
            try await bench.change(1, ["value.txt": "bad\n"])
            try await bench.git(["merge", "-q", "--no-ff", "-m", "Land change 1", "refs/pull/1/head"])
            let main = try await bench.git(["rev-parse", "main"])
            _ = try await bench.look()
            let red = try #require(try await bench.runs().last { $0.change == nil && $0.head == main })
            #expect(red.verdict == .failed)

            try await bench.change(2, ["README.md": "two\n"])
            _ = try await bench.look()
            let run = try #require(try await bench.runs().first { $0.change == "2" })
            let report = try await bench.report(run.id)
            #expect(report.verdict == .failed)
            let comparison = try #require(report.comparison)
            #expect(comparison.commit == main)
            #expect(comparison.alsoFailing.sorted() == ["C/adds", "C/sums"] && comparison.newlyFailing == [])

            let blame = try #require(TargetBlame(report, []))
            #expect(report.reason.hasPrefix(blame.headline), "the reader is told first: \(report.reason)")
            let ended = try await bench.pipectl("report", "\(run.id)", "--bundle", "--format", "json")
            let bundle = try JSONDecoder().decode(RunBundle.self, from: Data(ended.output.utf8))
            #expect(bundle.reason.hasPrefix(blame.headline), "\(bundle.reason)")

            // The change did not cause the failure, so there is nothing to fix in it.
            #expect(report.fixes?.state == .stopped && report.fixes?.attempts == [])
            #expect(try await bench.runs().allSatisfy { $0.fix == nil })
            #expect(!FileManager.default.fileExists(atPath: "\(bench.meet)/fixer-began"))
        }
    }
}
