import Concurrency
import Workspaces
import Engine
import Foundation
import Results
import Store

/// One attempt of one run: what every phase knows from the start.
struct RunTask: Sendable {
    let run: QueuedRun
    let repository: WatchedRepository
    /// By which the trust in its code is decided.
    let rules: TrustRules
    let stop: StopSignal
    /// The run's own folders, maybe with a sandbox that waits.
    let place: RunDirectories
    /// By the wall clock.
    let startedAt: Date

    var id: RunID { run.id }
    var request: RunRequest { run.request }
}
