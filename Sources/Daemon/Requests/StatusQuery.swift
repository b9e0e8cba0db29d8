import Listening
import Watching
import Running
import Preparing
import Workspaces
import StateFiles
import Control
import Foundation
import Placing
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
    let placement: Placement
    /// Why no run starts although some wait; nil if nothing prevents it.
    let obstacle: @Sendable () async -> String?

    func machines() async -> [MachineUse] {
        // Somebody may have changed the list just before.
        await placement.refresh(isPatient: false)
        return placement.uses
    }

    func status() async throws -> DaemonStatus {
        var known: [DaemonStatus.Repository] = []
        let changes = try await index.changeCounts([.open, .stale, .conflict])
        for (name, location) in try await index.repositories().sorted(by: { $0.key < $1.key }) {
            var repository = DaemonStatus.Repository(
                name: name, location: location, isWatched: watchers[name] != nil,
                changes: Dictionary(
                    uniqueKeysWithValues: (changes[name] ?? [:]).map { ($0.key.rawValue, $0.value) }))
            (repository.target, repository.advice) = await watchers[name]?.targets.words ?? (nil, nil)
            known.append(repository)
        }
        var status = DaemonStatus(
            version: Report.Machine.version, processID: ProcessInfo.processInfo.processIdentifier, slots: options.slots,
            repositories: known, running: board.all,
            queued: try await index.runs(RunFilter(states: [.queued], limit: 200)).filter { $0.heldFor == nil }
                .reversed(),
            held: try await approvals.held(),
            obstacle: await obstacle(), freeBytes: DiskSpace.free(at: folder.path),
            state: folder.path, machine: await tools.sandboxing().machine)
        var waits: [DaemonStatus.Wait] = []
        for run in try await index.queued() {
            guard let older = run.waitsFor else { continue }
            waits.append(DaemonStatus.Wait(run: run.id, reason: try await board.wait(for: older, index).words))
        }
        status.waits = waits
        status.pages = PageLinks(options.listen).root.map { "\($0)/" }
        return status
    }
}
