package import Concurrency
package import Results

/// The live runs of this process and their states: the only list that decides what may start. A value without clock or
/// disk.
package struct LiveRuns: Sendable {
    /// The state of a live run.
    package enum State: Sendable, Equatable {
        /// It is being prepared, or its steps run.
        case running
        /// Every remaining step waits for approval: it does nothing and takes no slot.
        case waitingForApproval
        /// It is prepared, and no machine has room for it.
        case waitingForMachine
        /// No further step will start: it needs the disk more than the processor.
        case finishing
    }

    private struct Entry: Sendable {
        let stop: StopSignal
        let background: BackgroundRun?
        let workflow: WorkflowName
        var state = State.running
    }

    /// A workflow of a repository.
    struct WorkflowName: Hashable, Sendable {
        let repository: String
        let workflow: String

        init(_ request: RunRequest) { (repository, workflow) = (request.repository, request.workflow) }
    }

    private var entries: [RunID: Entry] = [:]
    /// Of runs that are about to start: they stop at once.
    private var early: [RunID: StopRequest] = [:]

    var ids: Set<RunID> { Set(entries.keys) }
    package var isEmpty: Bool { entries.isEmpty }
    var stops: [StopSignal] { entries.values.map(\.stop) }

    /// Whether all live runs only wait: then a background run may start.
    var isIdle: Bool {
        entries.values.allSatisfy { $0.state == .waitingForApproval || $0.state == .waitingForMachine }
    }

    /// The runs that only wait for approvals.
    var parked: Set<RunID> { Set(entries.filter { $0.value.state == .waitingForApproval }.keys) }

    /// Whether all live runs only wait for approvals.
    var isParked: Bool { entries.values.allSatisfy { $0.state == .waitingForApproval } }

    /// How many runs may wait for a machine before further ones of their workflows stay in the queue.
    private static let mostWaiting = 64

    /// The workflows of which no further run may start now: many runs wait for machines, some of these workflows, and their
    /// next ones would most likely wait, too. Runs of other workflows may have other machines.
    var crowded: Set<WorkflowName> {
        let waiting = entries.values.filter { $0.background == nil && $0.state == .waitingForMachine }
        return waiting.count < LiveRuns.mostWaiting ? [] : Set(waiting.map(\.workflow))
    }

    /// Whether another run may start.
    ///
    /// Runs that wait for approval or for a machine, and background runs, don't prevent others from starting. Neither do
    /// finishing runs, up to the same number.
    ///
    /// - Parameter limit: The most runs at the same time.
    func mayStartAnother(of limit: Int) -> Bool {
        let wanted = entries.values.filter { $0.background == nil }
        let finishing = wanted.count { $0.state == .finishing }
        return wanted.count { $0.state == .running } + max(finishing - limit, 0) < limit
    }

    /// The stop signal of a live run. Of another run the request is kept for its start; nil then.
    mutating func stop(_ id: RunID, _ request: StopRequest) -> StopSignal? {
        if let entry = entries[id] { return entry.stop }
        early[id] = request
        return nil
    }

    /// The request that was kept for the start of a run, which is forgotten now.
    mutating func takeEarlyStop(of id: RunID) -> StopRequest? { early.removeValue(forKey: id) }

    package func state(of id: RunID) -> State? { entries[id]?.state }

    /// Adds a run that starts.
    ///
    /// - Returns: The stop signals of runs that must give way to it.
    package mutating func begin(_ run: QueuedRun, _ stop: StopSignal) -> [StopSignal] {
        let isWanted = run.request.background == nil
        let preempted = isWanted ? entries.values.filter { $0.background == .flakeProbe }.map(\.stop) : []
        entries[run.id] = Entry(
            stop: stop, background: run.request.background, workflow: WorkflowName(run.request))
        return preempted
    }

    /// Sets the state of a run; a finishing run stays finishing.
    ///
    /// - Returns: Whether another run may start now.
    package mutating func note(_ state: State, of id: RunID) -> Bool {
        guard let old = entries[id]?.state, old != state, old != .finishing else { return false }
        entries[id]?.state = state
        return state != .running
    }

    package mutating func end(_ id: RunID) { entries[id] = nil }
}
