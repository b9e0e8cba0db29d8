import Running

/// Continues tasks when a run has ended. The due work is recorded in the index, so one call after several ends is
/// enough.
struct TaskListener: RunListener {
    /// Does everything that is due.
    let settle: @Sendable () async -> Void
    let name = "tasks"
    let capacity = 1

    func wants(_ event: DaemonEvent) -> Bool { if case .ended = event { true } else { false } }

    func receive(_ event: DaemonEvent) async { await settle() }

    func missed(_ count: Int) async {}
}
