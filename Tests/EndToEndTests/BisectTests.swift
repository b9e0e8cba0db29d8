import DaemonLog
import TestBasics
import Reports
import Results
import Foundation
import TestSupport
import Testing

/// Finds the change that broke a test: on request, and by the daemon itself.
struct BisectTests {
    /// Writes a result for each line of `tests`, which says how the test ends. Without the file nothing can be run.
    private static let script = """
        echo run >> "$0.count" 2>/dev/null || true
        test -f tests || { echo "no tests file"; exit 2; }
        echo '<testsuite>' > r.xml; code=0
        while read -r name how; do
          if [ "$how" = fails ]; then code=1; echo "<testcase name='$name' classname='S'><failure message='broken'/></testcase>" >> r.xml
          else echo "<testcase name='$name' classname='S'/>" >> r.xml; fi
        done < tests
        echo '</testsuite>' >> r.xml; exit $code

        """

    private static func files(_ modifiers: String = "") -> [String: String] {
        [
            "workflows/x.swift": """
            import Pipeline

            let test = Workflow("test", on: .pullRequest(into: "main"), .merge(into: "main")) {
                Step("lint", run: "true")
                Step("unit", run: "sh check.sh").testResults(.junit("r.xml")).neverProved()
            }\(modifiers)
            @main struct Workflows: WorkflowSet { static let workflows = [test] }

            """, "check.sh": script, "tests": "one passes\ntwo passes\n",
        ]
    }

    /// Lands a change as a squash: one commit on main with the change's difference.
    private func land(_ bench: Bench, _ number: Int, _ files: [String: String]) async throws -> String {
        try await bench.change(number, files)
        _ = try await bench.look()
        return try await bench.commit(files, "Landed \(number)")
    }

    @Test(.timeLimit(.minutes(10)))
    func `bisect names the change that broke the test`() async throws {
        try await Bench.with(Self.files()) { bench in
            #expect(try await bench.look().code == 0)
            var commits: [Int: String] = [:]
            for number in 1...3 { commits[number] = try await land(bench, number, ["f\(number).txt": "\(number)\n"]) }
            commits[4] = try await land(bench, 4, ["tests": "one fails\ntwo passes\n"])
            // Commits that can't be tested are next to it, and elsewhere.
            try await bench.git(["rm", "-q", "tests"])
            let gap = try await bench.commit([:], "No tests at all")
            try await bench.commit(["tests": "one fails\ntwo passes\n"], "Tests again")
            for number in 5...9 { commits[number] = try await land(bench, number, ["f\(number).txt": "\(number)\n"]) }
            _ = try await bench.look()
            let before = try await bench.runs().count

            let found = try await bench.pipectl("bisect", "S/one", "--json", "--minimum-free", "0")
            #expect(found.code == 0, "\(found.errors)")
            let answer = try ReportJSON.decoder().decode(BisectAnswer.self, from: Data(found.output.utf8))
            #expect(answer.broken.id == commits[4] && answer.broken.change == "4", "\(answer)\n\(found.errors)")
            #expect(answer.good.id == commits[3])
            #expect(answer.suspects.isEmpty && answer.isVerified == true)
            #expect(answer.broken.id != gap)
            let after = try await bench.runs()
            #expect(after.count - before == answer.runs, "only what is missing is run")
            let own = after.prefix(answer.runs)
            #expect(own.allSatisfy { $0.stepCounts.passed + $0.stepCounts.failed == 1 }, "only the step with the test")

            let again = try await bench.pipectl("bisect", "S/one", "--no-verify", "--minimum-free", "0")
            #expect(again.code == 0, "\(again.errors)")
            #expect(
                again.output.contains(
                    "S/one was broken by change 4 \"Change 4\", landed as \(answer.broken.id.prefix(10))"))
            #expect(again.output.contains(" 0 runs"), "the archive knows all of it now: \(again.output)")
            #expect(try await bench.runs().count == after.count)

            // Names the repository by its name and by its folder, from elsewhere.
            for place in [
                ["--repository", "repo"], ["--repository", bench.repository], ["--folder", bench.repository],
            ] {
                let known = try await bench.command(
                    [Bench.pipectl, "bisect", "S/one", "--no-verify", "--minimum-free", "0"] + place, in: bench.meet)
                #expect(known.code == 0, "\(place): \(known.errors)")
            }

            let fine = try await bench.pipectl("bisect", "S/two", "--minimum-free", "0")
            #expect(fine.code == 7 && fine.errors.contains("there is no failure to bisect"), "\(fine.errors)")
            let wrong = try await bench.pipectl("bisect", "S/none", "--minimum-free", "0")
            #expect(wrong.code == 2)
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a commit that can't be tested stays a suspect`() async throws {
        try await Bench.with(Self.files()) { bench in
            _ = try await bench.look()
            let good = try await bench.commit(["f.txt": "1\n"], "Fine")
            try await bench.git(["rm", "-q", "tests"])
            let gap = try await bench.commit([:], "No tests at all")
            let bad = try await bench.commit(["tests": "one fails\n"], "Tests again")
            try await bench.commit(["f.txt": "2\n"], "Later")
            _ = try await bench.look()
            let found = try await bench.pipectl(
                "bisect", "S/one", "--good", good, "--json", "--minimum-free", "0")
            #expect(found.code == 0, "\(found.errors)")
            let answer = try ReportJSON.decoder().decode(BisectAnswer.self, from: Data(found.output.utf8))
            #expect(answer.broken.id == bad && answer.good.id == good)
            #expect(answer.suspects.map(\.id) == [gap])
            #expect(answer.suspects.first?.reason?.contains("exit code 2") == true)
            #expect(answer.inWords.contains("or by one of 1 earlier commits that can't be tested"))
        }
    }

    @Test(.timeLimit(.minutes(10)))
    func `a failing target is bisected and the next report names the cause`() async throws {
        try await Bench.with(Self.files(".bisectsWhenRed()")) { bench in
            try await bench.withDaemon { daemon in
                try await daemon.event(.baseline)
                try await bench.change(1, ["tests": "one passes\ntwo fails\n"])
                _ = try await bench.pipectl("notify")
                try await bench.commit(["f.txt": "0\n"], "Before")
                let landed = try await bench.commit(["tests": "one passes\ntwo fails\n"], "Landed 1")
                try await bench.commit(["f.txt": "1\n"], "After")
                _ = try await bench.pipectl("notify")
                let said = try await daemon.event(.bisected)
                #expect(said.message.contains(landed.prefix(10)))
                let last = try await bench.commit(["f.txt": "2\n"], "Still red")
                _ = try await bench.pipectl("notify")
                let id = try await ended(bench, last)
                let report = try await bench.pipectl("report", "\(id)", "--format", "json")
                #expect(report.output.contains("broken-by"))
                #expect(report.output.contains("S/two was broken by"))
            }
        }
    }

    private func ended(_ bench: Bench, _ head: String) async throws -> RunID {
        var found: RunID?
        try await eventually("the verdict of \(head)", within: .seconds(300)) {
            found = try await bench.runs().first { $0.head == head && $0.isArchived }?.id
            return found != nil
        }
        return try #require(found)
    }
}
