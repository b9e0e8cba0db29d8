import Watching
import Running
import Preparing
import Workspaces
import StateFiles
import Control
import Foundation
import Results
import Store

/// The daemon's state, for `pipectl status`.
struct StatusQuery: Sendable {
    let index: Store.Index
    let board: LiveBoard
    let watchers: Watchers
    let approvals: ApprovalService
    let tools: BuildTools
    let folder: StateFolder
    let options: DaemonOptions
    /// Why no run starts although some wait; nil if nothing prevents it.
    let obstacle: @Sendable () async -> String?

    func status() async throws -> DaemonStatus {
        var known: [DaemonStatus.Repository] = []
        for (name, location) in try await index.repositories().sorted(by: { $0.key < $1.key }) {
            let changes = try await index.changes(of: name, states: [.open, .stale, .conflict])
            var repository = DaemonStatus.Repository(
                name: name, location: location, isWatched: watchers[name] != nil,
                changes: Dictionary(grouping: changes, by: \.state.rawValue).mapValues(\.count))
            (repository.target, repository.advice) = await watchers[name]?.targets.words ?? (nil, nil)
            known.append(repository)
        }
        return DaemonStatus(
            version: Report.Machine.version, processID: ProcessInfo.processInfo.processIdentifier, slots: options.slots,
            repositories: known, running: board.all,
            queued: try await index.runs(RunFilter(states: [.queued], limit: 200)).filter { $0.heldFor == nil }
                .reversed(),
            held: try await approvals.held(),
            obstacle: await obstacle(), freeBytes: DiskSpace.free(at: folder.path),
            state: folder.path, machine: await tools.sandboxing().machine)
    }
}
