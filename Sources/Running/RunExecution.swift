import DaemonLog
import Store
package import Watching
import Preparing
import Workspaces
package import Concurrency
import Engine
import Foundation
package import Logging
package import Results

/// Takes claimed runs to their verdicts.
package struct RunExecution: SchedulerHost {
    package let pipelines: RunPipelines
    package let repositories: KnownRepositories
    package let health: Health
    package let log: Logger

    package init(pipelines: RunPipelines, repositories: KnownRepositories, health: Health, log: Logger) {
        self.pipelines = pipelines
        self.repositories = repositories
        self.health = health
        self.log = log
    }

    package func execute(_ run: QueuedRun, _ stop: StopSignal) async -> Report {
        let events = pipelines.monitor.events
        do {
            let pipeline = try await pipelines.pipeline()
            let repository = try await repositories.repository(of: run.request)
            if run.request.background == .warmUp { await pipelines.workspaces.snapshots.noteTry(run.id) }
            let (place, left) = await pipelines.place(for: run, in: repository)
            let report = await pipeline.run(
                RunTask(
                    run: run, repository: repository, rules: try await repositories.rules(for: repository), stop: stop,
                    place: place, startedAt: left?.startedAt ?? Date(), left: left))
            await sayEnd(of: run.id)
            events.publish(.ended(run.id))
            return report
        } catch {
            var report = Report(starting: run, at: Date())
            report.reason = "the build box could not start it: \(error)"
            report.endedAt = Date()
            if await pipelines.recorder.record(report, run.request) { events.publish(.unstarted(report, run.request)) }
            events.publish(.ended(run.id))
            return report
        }
    }

    /// Logs how a run ended; nothing for one that was put back.
    private func sayEnd(of id: RunID) async {
        guard let run = try? await pipelines.state.index.run(id), let line = RunEndLine.text(run) else { return }
        let summary = run.summary
        let facts = summary.verdict.map { ["verdict": $0.rawValue] } ?? [:]
        log.info(
            "\(line)",
            metadata: .code(
                summary.heldFor == nil ? .runEnded : .runNeedsApproval, run: id, repository: summary.repository, facts))
    }

    package func hasRoom() -> Bool { health.hasSpace() }

    package func noteClaim(_ error: (any Error)?) {
        let what = "no run can be started"
        if let error { health.noteTrouble(what, error) } else { health.clearTrouble(what) }
    }

    package func noteEnd(of run: RunID) { pipelines.monitor.live.wake(run) }
    package func stopWaiting() { pipelines.waiters.close() }
}
