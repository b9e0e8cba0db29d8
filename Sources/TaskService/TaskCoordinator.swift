import Archive
import DaemonLog
package import Logging
import Results
package import Running
package import Store
import TerminalText

/// Decides what follows for each task that is due. It starts from the recorded facts each time, so it may be repeated,
/// and a crash loses nothing.
package actor TaskCoordinator {
    private let index: Store.Index
    private let queue: RunQueue
    private let health: Health
    private let log: Logger
    /// Whether work is due; a running call of ``settle()`` does it.
    private var isDue = false
    private var isSettling = false

    package init(index: Store.Index, queue: RunQueue, health: Health, log: Logger) {
        self.index = index
        self.queue = queue
        self.health = health
        self.log = log
    }

    /// Does everything that is due.
    package func settle() async {
        // If a call is running already, it checks again and does the rest.
        isDue = true
        guard !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        while isDue {
            isDue = false
            do {
                for id in try await index.dueTasks() { try await index.setTaskDue(id, at: nil) }
                health.clearTrouble("a task can't continue")
            } catch is CancellationError {
                // It stays due for the next process.
                return
            } catch {
                health.noteTrouble("a task can't continue", error)
            }
        }
    }
}
