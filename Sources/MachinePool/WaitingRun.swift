package import Pipeline

/// Which machines may run a run, whatever they offer.
package enum MachineScope: Sendable, Hashable {
    /// All but those with these names.
    case allBut(Set<String>)
    case only(String)

    package static let all = MachineScope.allBut([])

    package func contains(_ name: String) -> Bool {
        switch self {
        case .allBut(let names): !names.contains(name)
        case .only(let wanted): name == wanted
        }
    }
}

/// A run, or one step of a run that is on another machine, which waits for a machine.
package struct WaitingRun: Sendable {
    package var id: Int
    /// The run whose step it is; nil for a run.
    package var partOf: Int?
    /// Runs of one owner share its part of the machines: the repository's name.
    package var owner: String
    package var needs: MachineNeeds
    package var scope: MachineScope
    /// Names the snapshots that it can start from: runs of a workflow in a repository.
    package var snapshot: String
    /// How long it is expected to take without a snapshot, in seconds.
    package var seconds: Double
    /// The seconds that it gains on a machine with a snapshot: see ``WarmWorth``.
    package var warmGain: Double
    /// How long it waits.
    package var patience = Patience.untilReady

    package enum Patience: Sendable, Equatable {
        /// Until a machine that fits can be used and has room.
        case untilReady
        /// Until a machine that fits has room, but not for one that can't be used now.
        case untilFree
        /// Not at all: it has a machine at once, or none.
        case none
    }

    package init(
        id: Int, owner: String, needs: MachineNeeds = MachineNeeds(), scope: MachineScope = .all, snapshot: String,
        seconds: Double, warmGain: Double = 0
    ) {
        self.id = id
        self.owner = owner
        self.needs = needs
        self.scope = scope
        self.snapshot = snapshot
        self.seconds = seconds
        self.warmGain = warmGain
    }

    /// What a machine must be to run it.
    var demand: Demand { Demand(needs: needs, scope: scope) }

    /// Whether a machine without runs could run it.
    package func fits(_ machine: Machine) -> Bool { demand.fits(machine) }
}

/// What a machine must be to run a run.
struct Demand: Sendable, Hashable {
    var needs: MachineNeeds
    var scope: MachineScope

    func fits(_ machine: Machine) -> Bool { scope.contains(machine.name) && machine.missing(needs).isEmpty }
}

/// A run and the machine that it gets.
package struct Assignment: Sendable, Equatable {
    package var run: Int
    package var machine: String
    /// Whether the machine has a snapshot for it.
    package var isWarm: Bool
}
