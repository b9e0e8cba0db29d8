package import Archive
package import Forges
package import Landing
package import Logging
package import Running
package import StateFiles
package import Store

/// What the daemon has for tasks, put together.
package struct TaskParts: Sendable {
    package let coordinator: TaskCoordinator
    package let requests: TaskRequests
    package let watch: TaskWatch

    /// - Parameter opener: Opens the changes.
    package init(
        state folder: StateFolder, index: Store.Index, store: ArchiveStore, queue: RunQueue,
        definitions: WorkflowDefinitions, landings: LandingHandler, opener: any ChangeOpener, issues: ForgeIssues,
        crashes: CrashLookup, health: Health, log: Logger
    ) {
        let repositories = definitions.repositories
        let coordinator = TaskCoordinator(
            facts: TaskFacts(index: index, store: store),
            runs: TaskRuns(queue: queue, repositories: repositories),
            changes: TaskChanges(
                index: index, repositories: repositories, landings: landings, opener: opener),
            health: health, log: log)
        self.coordinator = coordinator
        requests = TaskRequests(
            index: index, repositories: repositories,
            declarations: TaskDeclarations(definitions: definitions, repositories: repositories), crashes: crashes,
            issues: issues,
            files: TaskFiles(folder: folder.taskFiles), queue: queue, settle: { await coordinator.settle() })
        watch = TaskWatch(
            index: index, coordinator: coordinator, teller: TaskTeller(index: index, log: log),
            news: queue.board.news)
    }
}
