package import Watching
package import Concurrency
package import Workspaces
import Engine
package import Foundation
package import Results

/// One attempt of one run: the facts that every phase knows from the start.
package struct RunTask: Sendable {
    package let run: QueuedRun
    package let repository: WatchedRepository
    /// The rules that decide how far its code is trusted.
    package let rules: TrustRules
    package let stop: StopSignal
    /// The run's own folders, possibly with a standby sandbox.
    package let place: RunDirectories
    /// By the wall clock.
    package let startedAt: Date
    /// What an earlier life of the daemon left, which may be taken over.
    package let left: LeftRun?

    package init(
        run: QueuedRun, repository: WatchedRepository, rules: TrustRules, stop: StopSignal, place: RunDirectories,
        startedAt: Date, left: LeftRun? = nil
    ) {
        self.left = left
        self.run = run
        self.repository = repository
        self.rules = rules
        self.stop = stop
        self.place = place
        self.startedAt = startedAt
    }

    package var id: RunID { run.id }
    package var request: RunRequest { run.request }
}
