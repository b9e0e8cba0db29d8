import DaemonLog
package import Archive
import Engine
package import Logging
import Results
package import Store

/// Archives runs that ended before they started: superseded or cancelled in the queue.
package struct UnstartedRuns: Sendable {
    package let index: Store.Index
    package let store: ArchiveStore
    package let events: EventStream
    package let log: Logger
    private let gate = SerialGate()

    package init(index: Store.Index, store: ArchiveStore, events: EventStream, log: Logger) {
        self.index = index
        self.store = store
        self.events = events
        self.log = log
    }

    /// Gives each a report, and tells listeners. One that can't be archived now is tried again later.
    package func archive() async {
        // One caller at a time, since each would find the same runs.
        await gate.pass { await archiveEach() }
    }

    private func archiveEach() async {
        do {
            for run in try await index.endedWithoutReport(limit: 1_000) {
                let intents = run.request.runsAtMostOnce ? try await index.intents(of: run.id) : []
                guard
                    let report = Report(
                        unstarted: run, findings: intents.map(\.finding), reproduce: run.request.reproduction,
                        box: .current)
                else { continue }
                try await store.record(report, request: run.request, in: index)
                events.publish(.unstarted(report, run.request))
            }
        } catch {
            log.warning(
                "reports of runs that never started can't be archived yet: \(error)", metadata: .code(.recordingDelayed)
            )
        }
    }
}
