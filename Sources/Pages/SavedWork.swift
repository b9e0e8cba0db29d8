import Results
import Synchronization

/// What runs did not have to do: steps that were proved, and workspaces that were warm. What a report says is kept, since it
/// does not change.
final class SavedWork: Sendable {
    struct Figures: Sendable, Equatable {
        var runs = 0
        var warm = 0
        var proved = 0
        /// Steps that ran.
        var ran = 0
    }

    /// Reports that are read for a page.
    private static let mostRuns = 20
    private static let mostKnown = 1_000

    private let known = Mutex<[RunID: Figures]>([:])

    /// The sum over the newest runs of a list that the archive has.
    func figures(of newestFirst: [RunSummary], _ host: PagesHost) async -> Figures {
        var sum = Figures()
        for run in newestFirst.filter(\.isArchived).prefix(Self.mostRuns) {
            guard let one = await figures(of: run.id, host) else { continue }
            (sum.runs, sum.warm) = (sum.runs + one.runs, sum.warm + one.warm)
            (sum.proved, sum.ran) = (sum.proved + one.proved, sum.ran + one.ran)
        }
        return sum
    }

    private func figures(of run: RunID, _ host: PagesHost) async -> Figures? {
        if let one = known.withLock({ $0[run] }) { return one }
        guard let report = try? await host.report(run) else { return nil }
        let proved = report.steps.count { $0.provedBy != nil }
        let one = Figures(
            runs: 1, warm: report.base == nil ? 0 : 1, proved: proved,
            ran: report.steps.count { $0.provedBy == nil && !$0.attempts.isEmpty })
        known.withLock { known in
            if known.count >= Self.mostKnown { known = [:] }
            known[run] = one
        }
        return one
    }
}
