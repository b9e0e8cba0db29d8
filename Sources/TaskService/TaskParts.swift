import Control
package import Landing
package import Logging
package import Running
package import StateFiles
package import Store
package import Watching

/// What the daemon has for tasks, put together.
package struct TaskParts: Sendable {
    package let coordinator: TaskCoordinator
    package let requests: TaskRequests

    /// - Parameter opener: Opens the changes; nil: branches stand for them.
    package init(
        state folder: StateFolder, index: Store.Index, queue: RunQueue, repositories: KnownRepositories,
        definitions: WorkflowDefinitions, landings: LandingHandler, crashes: any CrashReading, health: Health,
        log: Logger
    ) {
        let coordinator = TaskCoordinator(index: index, queue: queue, health: health, log: log)
        self.coordinator = coordinator
        requests = TaskRequests(
            index: index, repositories: repositories,
            declarations: TaskDeclarations(definitions: definitions, repositories: repositories), crashes: crashes,
            files: TaskFiles(folder: folder.taskFiles), queue: queue, settle: { await coordinator.settle() })
    }
}
