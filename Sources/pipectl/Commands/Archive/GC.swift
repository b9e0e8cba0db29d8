import Archive
import ArgumentParser
import Client
import Control
import Foundation
import Results
import StateFiles

struct GC: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gc", abstract: "Removes old runs by age, count and size.",
        discussion: """
            Never removed: queued and running runs, runs that need approval, for each workflow \
            the newest verdict of the target, and the newest run of all. The newest verdicts of open changes and of \
            other branches stay for 90 days after the run's end. An artifact that no run refers to is removed one hour \
            after its last use.

            It also removes the stores of deleted clones: folders in which runs were started by hand.
            """)

    @OptionGroup var state: StateOptions
    @Option(
        help: ArgumentHelp("Remove runs that ended longer ago than this, like 90d.", valueName: "time"),
        transform: DurationOption.days)
    var maxAge: Duration?
    @Option(help: ArgumentHelp("Keep at most N runs.", valueName: "n")) var maxRuns: Int?
    @Option(
        help: ArgumentHelp("Keep at most this much, like 50GiB.", valueName: "size"), transform: SizeOption.mebibytes)
    var maxSize: Int?
    @Option(
        help: ArgumentHelp(
            "Keep the newest N runs of each workflow on each branch; N is at least 1. For branches other than the target, 90 days.",
            valueName: "n"))
    var keep = 1
    @Flag(help: "Show what would be removed; remove nothing.") var dryRun = false
    @Flag(help: "Print one line per run, kept runs included.") var verbose = false
    @Flag(help: "Print JSON.") var json = false

    func validate() throws {
        if maxAge == nil && maxRuns == nil && maxSize == nil {
            throw ValidationError("give at least one limit: --max-age TIME, --max-runs N or --max-size SIZE")
        }
        if (maxRuns ?? 0) < 0 { throw ValidationError("--max-runs takes 0 or more") }
        if keep < 1 { throw ValidationError("--keep takes 1 or more: the newest verdict of a branch is never removed") }
    }

    func run() async throws {
        let policy = RetentionPolicy(
            maximumAgeDays: maxAge.map { $0 / .seconds(86_400) }, maximumRuns: maxRuns, maximumBytes: maxSize,
            keepNewestPerBranch: keep)
        let reply = try await state.ask(.collect(CollectRequest(policy: policy, isDryRun: dryRun)), "gc") {
            if case .collected(let reply) = $0 { reply } else { nil }
        }
        if json { return try JSONOutput.print(reply) }
        for line in CollectText.lines(reply, verbose: verbose) { Terminal.print(line) }
    }
}
