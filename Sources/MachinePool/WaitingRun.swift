package import Pipeline

/// A run that waits for a machine.
package struct WaitingRun: Sendable {
    package var id: Int
    /// Runs of one owner share its part of the machines: the repository's name.
    package var owner: String
    package var needs: MachineNeeds
    /// Names the snapshots that it can start from: runs of a workflow in a repository.
    package var snapshot: String
    /// How long it is expected to take without a snapshot, in seconds.
    package var seconds: Double
    /// The seconds that it gains on a machine with a snapshot: see ``WarmWorth``.
    package var warmGain: Double

    package init(
        id: Int, owner: String, needs: MachineNeeds = MachineNeeds(), snapshot: String, seconds: Double,
        warmGain: Double = 0
    ) {
        self.id = id
        self.owner = owner
        self.needs = needs
        self.snapshot = snapshot
        self.seconds = seconds
        self.warmGain = warmGain
    }
}

/// A run and the machine that it gets.
package struct Assignment: Sendable, Equatable {
    package var run: Int
    package var machine: String
    /// Whether the machine has a snapshot for it.
    package var isWarm: Bool
}
