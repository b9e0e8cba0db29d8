import Foundation
import Reports
package import Results

/// Runs as aligned columns.
package enum RunTable {
    /// - Parameter width: The terminal's width in columns. The column "what" is cut so that rows fit; nil for no limit.
    package static func text(_ runs: [RunSummary], colour: Bool, width: Int? = nil) -> String {
        guard !runs.isEmpty else { return "" }
        let rows = runs.map { run in
            [
                "\(run.id)", "\(sign(run)) \(verdict(run)?.title ?? run.state.rawValue)", run.workflow, subject(run),
                String(run.head.prefix(10)), run.duration.map { Figures.duration($0) } ?? "",
                tests(run.testCounts), age(run.createdAt), run.repository,
            ]
        }
        let header = ["run", "verdict", "workflow", "what", "commit", "took", "tests", "when", "repository"]
        let limit = width.map { TextTable.Limit(column: 3, least: 12, width: $0) }
        return TextTable.text(header, rows, limit: limit) { row, column in colour && column == 1 ? code(runs[row]) : nil
        }
    }

    /// What a run is about, as every list shows it.
    package static func subject(_ run: RunSummary) -> String {
        if let task = run.task { return task.inWords }
        if let fix = run.fix { return fix.inWords + (run.change.map { ", change \($0)" } ?? "") }
        if run.ref.hasPrefix(RunRequest.queuePrefix), let change = run.change {
            return "merge queue of \(run.branch ?? ""), up to change \(change)"
        }
        if let change = run.change {
            let title = (run.title ?? "").prefix(40)
            let fix = run.fixState.map { " [fix \($0.title)]" } ?? ""
            return "change \(change)" + (title.isEmpty ? "" : ": \(title)") + fix
        }
        let place = run.branch ?? (run.ref.isEmpty ? "working tree" : run.ref.replacing("refs/tags/", with: "tag "))
        return switch run.upkeep {
        case .warmUp: "warm-up of \(place)"
        case .cleanBuild: "clean build of \(place)"
        case .bisect: "bisection of \(place)"
        case .flakeProbe: "retry of failing tests on \(place)"
        case nil: place
        }
    }

    /// The verdict; for a run that waits for approval, needs approval.
    private static func verdict(_ run: RunSummary) -> Verdict? { run.heldFor == nil ? run.verdict : .needsApproval }

    private static func sign(_ run: RunSummary) -> String {
        verdict(run).map { Wording.symbol($0) } ?? Wording.symbol(run.state == .running ? StepStatus.running : .waiting)
    }

    private static func code(_ run: RunSummary) -> String { verdict(run).map { Wording.colour($0) } ?? "2" }

    private static func tests(_ counts: TestCounts) -> String {
        guard counts.total > 0 else { return "" }
        return counts.failed > 0 ? "\(counts.failed) of \(counts.total) failed" : "\(counts.total)"
    }

    private static func age(_ date: Date) -> String { Figures.age(of: date, at: Date()) }
}
