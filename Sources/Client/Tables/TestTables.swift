import Foundation
package import Results
import TerminalText

/// Results of tests across runs, as lines of text.
package enum TestTables {
    package static func history(_ appearances: [TestAppearance], colour: Bool) -> String {
        guard let first = appearances.first else { return "" }
        let rows = appearances.map { one in
            [
                "\(one.run)",
                one.result.status.rawValue + (one.result.attempt > 1 ? ", attempt \(one.result.attempt)" : ""),
                one.workflow, what(one), String(one.head.prefix(10)),
                one.result.duration.map { Figures.duration($0) } ?? "", one.result.message ?? "",
            ]
        }
        let table = TextTable.text(["run", "result", "workflow", "what", "commit", "took", "message"], rows)
        let failures = appearances.count { $0.result.status.isFailure }
        let trend = TestTrend(suite: first.result.suite, name: first.result.name, appearances)
        var text = TerminalText.name(first.result.id, limit: 1_000) + "\n\(failures) of \(appearances.count) failed\n"
        text += "results  \(Sparkline.results(of: trend))\n"
        if let median = trend.medianSeconds {
            let most = trend.points.compactMap(\.duration).max() ?? median
            text +=
                "time     \(Sparkline.durations(of: trend))  median \(Figures.duration(median)), most \(Figures.duration(most))\n"
        }
        let learnt = appearances.filter { $0.upkeep == .flakeProbe }
        if !learnt.isEmpty {
            let passed = learnt.count { $0.result.status == .passed }
            text += "retried in idle time on trees where it had failed: \(passed) of \(learnt.count) passed\n"
        }
        return text + "\n" + table
    }

    private static func what(_ one: TestAppearance) -> String {
        let subject = one.change.map { "change \($0)" } ?? one.branch ?? "working tree"
        return one.upkeep == .flakeProbe ? "\(subject), retry" : subject
    }

    package static func flaky(_ tests: [FlakyTest]) -> String {
        guard !tests.isEmpty else { return "" }
        let rows = tests.map { test in
            [
                percent(test.rate), "\(test.flips) of \(test.runs)", test.id, test.firstRun.map { "\($0)" } ?? "",
                "\(test.lastRun)", test.plot ?? "", test.lastMessage ?? "",
            ]
        }
        return TextTable.text(["rate", "failed", "test", "first", "last", "runs", "message"], rows)
    }

    package static func slowest(_ tests: [SlowTest]) -> String {
        guard !tests.isEmpty else { return "" }
        let rows = tests.map { test in
            [
                Figures.duration(test.median), Figures.duration(test.worst), percent(test.share),
                test.trend.id, Sparkline.durations(of: test.trend),
            ]
        }
        return TextTable.text(["median", "most", "of all", "test", "runs"], rows)
    }

    package static func comparison(_ comparison: Comparison, of run: RunID) -> String {
        let runs = "between run \(run) and run \(comparison.against)"
        let slower = (comparison.slower ?? []).map { "\($0.test)  \($0.inWords)" }
        let renamed = (comparison.renamed ?? []).map { rename in
            "\(rename.from) → \(rename.to)\(rename.hasSameBody ? "" : " (with another body)")"
        }
        // A fingerprint consists of rule, file and message; people need all three.
        let findings = (comparison.newFindings ?? []).map { $0.replacing("|", with: "  ") }
        let parts = [
            ("newly failing", comparison.newlyFailing), ("still failing", comparison.alsoFailing),
            ("removed", comparison.vanished), ("newly skipped", comparison.newlySkipped), ("slower", slower),
            ("new findings", findings), ("renamed", renamed), ("fixed", comparison.fixed ?? []),
            ("added", comparison.added ?? []),
        ].filter { !$0.1.isEmpty }
        if parts.isEmpty { return "no difference \(runs)\n" }
        return parts.map { title, lines in
            let more = lines.count > 200 ? "  … and \(lines.count - 200) more: --json\n" : ""
            return "\(lines.count) \(title) \(runs)\n"
                + lines.prefix(200).map { "  " + TerminalText.name($0, limit: 1_000) + "\n" }.joined() + more
        }.joined(separator: "\n")
    }

    private static func percent(_ rate: Double) -> String {
        let tenths = Int((rate * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }
}
