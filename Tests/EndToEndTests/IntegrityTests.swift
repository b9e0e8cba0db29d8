import DaemonLog
import TestBasics
import Results
import Foundation
import TestSupport
import Testing

/// `.testIntegrity(…)` with a daemon: a change that weakens its tests passes only with approval.
struct IntegrityTests {
    static let definition = """
        import Pipeline
        let test = Workflow("test", on: .pullRequest(into: "main")) {
            Step("unit", run: "sh check.sh").testResults(.junit("results.xml"))
        }.testIntegrity().testIntegrity(.untouched("LICENSE"), .changing("Sources/**", requires: "Tests/**"))
        @main struct Workflows: WorkflowSet { static let workflows = [test] }

        """

    static func tests(_ names: String...) -> String {
        "import Testing\n\n@Suite struct SumTests {\n"
            + names.map { "    @Test func \($0)() { #expect(\($0)(1, 2) == 3) }\n" }.joined() + "}\n"
    }

    static func check(_ names: String..., code: Int = 0) -> String {
        let cases = names.map { "<testcase classname='SumTests' name='\($0)'/>" }.joined()
        return "echo \"<testsuite>\(cases)</testsuite>\" > results.xml\nexit \(code)\n"
    }

    static let files = [
        "workflows/x.swift": definition, "Tests/SumTests/SumTests.swift": tests("adds", "sums"),
        "check.sh": check("adds", "sums"), "LICENSE": "free\n", "Sources/Sum.swift": "func adds() {}\n",
    ]

    @Test(.timeLimit(.minutes(6)))
    func `a change that removes a test needs approval`() async throws {
        try await Bench.with(Self.files) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["Tests/SumTests/SumTests.swift": Self.tests("adds")])
                try await daemon.event(.runNeedsApproval, run: 1)
                _ = try await bench.pipectl("logs", "1", "--follow")
                let run = try await bench.run(1)
                #expect(run.verdict == .needsApproval && run.state == .ended)
                let report = try await bench.pipectl("report", "1").output
                #expect(report.contains("SumTests.sums is gone"), "\(report)")
                #expect(report.contains("Tests/SumTests/SumTests.swift:5"), "\(report)")
                let status = try await bench.pipectl("status").output
                #expect(status.contains("change 1 needs approval: pipectl approve 1"), "\(status)")
                #expect(try await bench.pipectl("run", "test", "--change", "1").code == 5)

                let approve = try await bench.pipectl("approve", "1", "--reason", "never worked")
                #expect(approve.code == 0 && approve.errors.contains("run 1: approved"), "\(approve.errors)")
                #expect(try await bench.run(1).verdict == .passed)
                let after = try await bench.pipectl("report", "1").output
                #expect(after.contains("never worked") && after.contains("SumTests.sums is gone"), "\(after)")
                #expect(try await bench.pipectl("archive", "verify").code == 0)
                let again = try await bench.pipectl("approve", "1")
                #expect(again.code == 0 && again.errors.contains("already"), "\(again.errors)")
                #expect(try await bench.pipectl("approve", "1", "--reject").code == 2)

                let rerun = try await bench.pipectl("run", "test", "--change", "1")
                #expect(rerun.code == 0, "the same commit with the same findings was allowed: \(rerun.errors)")

                try await bench.change(
                    1,
                    [
                        "check.sh": Self.check("adds", "sums") + "# new\n",
                        "Tests/SumTests/SumTests.swift": Self.tests("adds"),
                    ])
                try await daemon.event(.runNeedsApproval, run: 4)
                _ = try await bench.pipectl("logs", "4", "--follow")
                #expect(try await bench.run(4).verdict == .needsApproval, "another commit needs a word of its own")
                let reject = try await bench.pipectl("approve", "4", "--reject", "--reason", "put it back")
                #expect(reject.code == 0, "\(reject.errors)")
                #expect(try await bench.run(4).verdict == .failed)
                #expect(try await bench.run(4).reason?.contains("put it back") == true)
                #expect(await daemon.stop() == 0)
            }
            // Nothing of the run is only in the index.
            for suffix in ["", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: "\(bench.home)/index.sqlite\(suffix)")
            }
            #expect(try await bench.pipectl("archive", "reindex").code == 0)
            #expect(try await bench.run(1).verdict == .passed)
            #expect(try await bench.run(2).verdict == .needsApproval)
            #expect(try await bench.pipectl("report", "1").output.contains("approved by"))
            #expect(try await bench.pipectl("approve", "2").code == 0, "a question outlives the index")
            #expect(try await bench.run(2).verdict == .passed)
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `an honest change and a failing change need no approval`() async throws {
        try await Bench.with(Self.files) { bench in
            try await bench.change(1, ["Tests/SumTests/SumTests.swift": Self.tests("adds", "sums", "more")])
            try await bench.change(
                2, ["Tests/SumTests/SumTests.swift": Self.tests("adds"), "check.sh": Self.check("adds", code: 1)])
            try await bench.change(3, ["LICENSE": "mine\n"])
            try await bench.change(4, ["Sources/Sum.swift": "func adds() { }\n"])
            var verdicts: [Int32] = []
            for change in 1...4 {
                verdicts.append(try await bench.pipectl("run", "test", "--change", "\(change)").code)
            }
            #expect(verdicts == [0, 1, 5, 5])
            let failed = try await bench.pipectl("report", "2").output
            #expect(failed.contains("SumTests.sums is gone"), "a failure hides nothing: \(failed)")
            #expect(try await bench.pipectl("report", "3").output.contains("LICENSE is changed"))
            #expect(try await bench.pipectl("report", "4").output.contains("nothing that matches Tests/**"))
        }
    }

    /// The sources are the same but other tests run, which only the results show.
    @Test(.timeLimit(.minutes(6)))
    func `a test that is missing only in the results is found`() async throws {
        try await Bench.with(Self.files) { bench in
            let target = try await bench.pipectl("run", "test", "--ref", "main")
            #expect(target.code == 0, "\(target.errors)")
            try await bench.change(1, ["check.sh": Self.check("adds")])
            #expect(try await bench.pipectl("run", "test", "--change", "1").code == 5)
            let report = try await bench.pipectl("report", "2").output
            #expect(report.contains("SumTests/sums ran on the target and is missing here"), "\(report)")
        }
    }

    @Test(.timeLimit(.minutes(6)))
    func `the integrity command reports the same breaches beforehand`() async throws {
        try await Bench.with(Self.files) { bench in
            try await bench.git(["checkout", "-q", "-b", "mine"])
            try await bench.commit(["Tests/SumTests/SumTests.swift": Self.tests("sums")], "Remove a test")
            try await bench.commit(["README.md": "read\n"], "Say something")
            let look = try await bench.pipectl("integrity", "--against", "main")
            #expect(look.code == 5)
            #expect(
                look.output.contains("Tests/SumTests/SumTests.swift:4: removed-test: SumTests.adds is gone"),
                "\(look.output)")
            #expect(try await bench.pipectl("integrity").code == 0, "the newest commit alone takes nothing away")
        }
    }
}
