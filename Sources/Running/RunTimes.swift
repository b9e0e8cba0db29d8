import Pipeline
import Archive
import MachinePool
import Placing
import Results
import Store
import Workspaces

/// How long runs of a workflow take, fresh and from a snapshot, by the last ones.
actor RunTimes {
    private struct Workflow: Hashable {
        var repository: String
        var name: String
    }

    private struct Known {
        var gain: Double
        var until: ContinuousClock.Instant
    }

    private let index: Store.Index
    private let reports: ArchiveStore
    private var known: [Workflow: Known] = [:]
    /// The most runs that are looked at.
    private static let most = 20
    /// How long an answer is used: each takes as many reads of the archive.
    private static let lifetime = Duration.seconds(300)

    init(index: Store.Index, reports: ArchiveStore) { (self.index, self.reports) = (index, reports) }

    /// Nil if nothing is known.
    func time(of run: PreparedRun) async -> ExpectedTime? {
        let request = run.run.request
        let workflow = Workflow(repository: request.repository, name: request.workflow)
        guard let times = try? await index.stepTimes(repository: workflow.repository, workflow: workflow.name),
            !times.isEmpty
        else { return nil }
        let seconds = run.plan.steps.reduce(0) { $0 + (times[$1.name]?.median ?? 0) }
        return ExpectedTime(seconds: seconds, warmGain: await gain(workflow))
    }

    private func gain(_ workflow: Workflow) async -> Double {
        let now = ContinuousClock.now
        if let known = known[workflow], now < known.until { return known.gain }
        let filter = RunFilter(
            repository: workflow.repository, workflow: workflow.name, verdicts: [.passed], limit: Self.most)
        var (cold, warm): ([Double], [Double]) = ([], [])
        for run in (try? await index.runs(filter)) ?? [] {
            guard let report = try? await reports.report(run.id), let seconds = report.stepSeconds else { continue }
            if report.base == nil { cold.append(seconds) } else { warm.append(seconds) }
        }
        let gain = WarmWorth.seconds(cold: cold, warm: warm)
        known[workflow] = Known(gain: gain, until: now + Self.lifetime)
        return gain
    }
}

extension Report {
    /// How long its steps took, one after the other; nil if some were not run, so that it can't be compared.
    fileprivate var stepSeconds: Double? {
        guard !steps.isEmpty, steps.allSatisfy({ $0.status == .passed && $0.standsFor == nil }) else { return nil }
        return steps.reduce(0) { $0 + ($1.duration ?? 0) }
    }
}
