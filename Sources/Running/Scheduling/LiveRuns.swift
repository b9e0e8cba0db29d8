package import Concurrency
package import Results
package import Store

/// The runs that go on in this process, and how far each is; the only list that decides what may start. A value without
/// clock or disk.
package struct LiveRuns: Sendable {
    /// How far a run is.
    package enum State: Sendable, Equatable {
        /// It is prepared, or its steps run.
        case running
        /// Every step that is left waits for approval: it does nothing and takes no place.
        case waitingForApproval
        /// No step will begin any more: it needs the disk more than the processor.
        case finishing
    }

    private struct Entry: Sendable {
        let stop: StopSignal
        let background: BackgroundRun?
        var state = State.running
    }

    private var entries: [RunID: Entry] = [:]

    var ids: Set<RunID> { Set(entries.keys) }
    package var isEmpty: Bool { entries.isEmpty }
    var stops: [StopSignal] { entries.values.map(\.stop) }

    /// Whether nothing goes on but the wait for approvals: then a background run may start.
    var isIdle: Bool { entries.values.allSatisfy { $0.state == .waitingForApproval } }

    /// Whether another run may start.
    ///
    /// Runs that wait for approval, and those that only the daemon wants, keep no others from starting. Nor do runs that
    /// finish, as many of them as may run.
    ///
    /// - Parameter limit: Runs that go on at a time.
    func mayStartAnother(of limit: Int) -> Bool {
        let wanted = entries.values.filter { $0.background == nil }
        let finishing = wanted.count { $0.state == .finishing }
        return wanted.count { $0.state == .running } + max(finishing - limit, 0) < limit
    }

    func stop(of id: RunID) -> StopSignal? { entries[id]?.stop }
    package func state(of id: RunID) -> State? { entries[id]?.state }

    /// Notes that a run begins.
    ///
    /// - Returns: Runs that have to give way to it.
    package mutating func begin(_ run: QueuedRun, _ stop: StopSignal) -> [StopSignal] {
        let isWanted = run.request.background == nil
        let preempted = isWanted ? entries.values.filter { $0.background == .flakeProbe }.map(\.stop) : []
        entries[run.id] = Entry(stop: stop, background: run.request.background)
        return preempted
    }

    /// Notes how far a run is; once it finishes it stays so.
    ///
    /// - Returns: Whether another run may start for it.
    package mutating func note(_ state: State, of id: RunID) -> Bool {
        guard let old = entries[id]?.state, old != state, old != .finishing else { return false }
        entries[id]?.state = state
        return state != .running
    }

    package mutating func end(_ id: RunID) { entries[id] = nil }
}
