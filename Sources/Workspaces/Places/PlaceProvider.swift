package import Concurrency
package import Engine
package import MachinePool
package import Pipeline
package import Results

/// Prepares places for runs: on this machine, or on another.
package protocol PlaceProvider: Sendable {
    /// Prepares a place with the tested files of a run.
    ///
    /// - Throws: ``PlaceUnavailable``; errors of Git, of the disk or of the machine. There is nothing to give back then.
    func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace

    /// Notes that no step of a run needed a place.
    func skip(_ run: PreparedRun) async

    /// Ends what a run has left on another machine.
    func end(_ trace: PlaceTrace) async

    /// Whether a run would start from a snapshot.
    func isWarm(_ run: PreparedRun) async -> Bool
}

extension PlaceProvider {
    package func end(_ trace: PlaceTrace) async {}
    package func isWarm(_ run: PreparedRun) async -> Bool { false }
}

/// What a place is prepared for.
package struct PlaceOrder: Sendable {
    package var run: PreparedRun
    /// The folders of the run on this machine.
    package var directories: RunDirectories
    /// Whether the workspace will have the outputs of all steps of the plan.
    package var isWhole: Bool
    /// By step, the folders of a review.
    package var rooms: [String: ReviewRoom]
    /// Returns the command that starts a closure step, which finds its context in a file.
    package var closureCommand: @Sendable (_ step: String, _ contextFile: String) -> [String]
    /// How many places the runs that follow may soon need; nil if nothing is to be made ready for them.
    package var nextPlaces: (@Sendable () -> Int)?
    /// How the run waits if no machine has room for it.
    package var wait = PlaceWait()
    /// What the machine must offer: what all steps of the plan need, but for those that run elsewhere.
    package var needs: MachineNeeds
    /// Tells places of the same run on other machines apart; 0 for the run's own.
    package var part = 0

    package init(
        run: PreparedRun, directories: RunDirectories, isWhole: Bool, rooms: [String: ReviewRoom],
        closureCommand: @escaping @Sendable (_ step: String, _ contextFile: String) -> [String],
        nextPlaces: (@Sendable () -> Int)? = nil
    ) {
        self.run = run
        self.directories = directories
        self.isWhole = isWhole
        self.rooms = rooms
        self.closureCommand = closureCommand
        self.nextPlaces = nextPlaces
        needs = run.plan.machineNeeds
    }
}

/// What becomes of a run that needs a place.
package enum PlaceProgress: Sendable, Equatable {
    /// No machine has room for it; why, as a sentence.
    case waits(String)
    /// Another machine is being prepared for it.
    case brought(to: String)
    /// It has its machine; nil is the daemon's.
    case placed(String?)
}

/// How a run waits for a machine.
package struct PlaceWait: Sendable {
    /// Ends the wait.
    package var stop: StopSignal
    /// Ends the run. It is the same signal, unless the place is for single steps of the run.
    package var runStop: StopSignal
    /// How often a machine was lost while the run was there.
    package var losses: Int
    /// The place that the run takes over; nil if it gets a new one.
    package var adopts: PlaceTrace?
    /// Told what becomes of it.
    package var say: @Sendable (PlaceProgress) -> Void

    package init(
        stop: StopSignal = StopSignal(), runStop: StopSignal? = nil, losses: Int = 0, adopts: PlaceTrace? = nil,
        say: @escaping @Sendable (PlaceProgress) -> Void = { _ in }
    ) {
        (self.stop, self.runStop) = (stop, runStop ?? stop)
        (self.losses, self.adopts, self.say) = (losses, adopts, say)
    }
}

/// Why a run has no place, although nothing is wrong with it or with a machine.
package enum PlaceWaitEnd: Error, Sendable, Equatable {
    case stopped(StopRequest)
    /// The daemon shuts down, and the run is to be queued again.
    case shutdown
}

/// A place that a run has. Give it back by ``close(hasPassed:isAllEnded:)`` after the last step, or by ``abandon()``.
package protocol ProvidedPlace: Sendable {
    /// Where the steps are run.
    var place: any RunPlace { get }
    /// The path at which this machine sees the workspace; nil if it is on another machine, where no fixer can work.
    var workspaceView: String? { get }
    /// The retained workspace that the run continues in.
    var resumption: Resumption? { get }
    /// What the report says about how the workspace was chosen.
    var findings: [Finding] { get }
    /// Whether the next run must wait until the processes of this one have ended.
    var delaysNextRun: Bool { get }
    /// The machine, if it is not the daemon's.
    var elsewhere: OtherMachine? { get }
    /// By which it is found again if the daemon is lost; nil if it ends with the daemon.
    var trace: PlaceTrace? { get }

    /// Ends the use of the workspace by steps.
    ///
    /// - Parameter isAllEnded: Whether every process of the run has ended, as far as the engine knows.
    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace

    /// Gives everything back if no step could start.
    func abandon() async

    /// Has these steps run on another machine, where that is possible: this one has proved them, and that is to be checked.
    /// Before the first step.
    func check(_ steps: Set<String>)
}

/// A machine that is not the daemon's, as far as a run on it must know it.
package struct OtherMachine: Sendable, Equatable {
    package var name: String
    /// How many steps of the run may run at a time.
    package var steps: Int
    /// What it says that it is: system, processor, sandbox, the compiler and the packages.
    package var traits: [String]

    package init(name: String, steps: Int, traits: [String] = []) {
        (self.name, self.steps, self.traits) = (name, steps, traits)
    }
}

extension ProvidedPlace {
    package func check(_ steps: Set<String>) {}
    package var elsewhere: OtherMachine? { nil }
    package var trace: PlaceTrace? { nil }
}

/// What is left of a place after the last step. Call ``release(_:)`` once the verdict is recorded.
package protocol FinishedPlace: Sendable {
    /// The snapshot that the run started from.
    var base: Report.Base? { get }
    /// Why the run started fresh, if that is known.
    var cold: String? { get }
    /// The run whose retained workspace it continued in.
    var resumed: RunID? { get }
    /// Whether every process of the run has certainly ended.
    var isAllEnded: Bool { get }

    /// The machine's name, if it is not the daemon's.
    var machine: String? { get }
    /// Why the machine was lost before the last step had ended, as a sentence; nil if it was not.
    var lost: String? { get }
    /// By which the place may be taken over although the connection was lost. Whoever does not calls ``release(_:)``.
    var trace: PlaceTrace? { get }

    /// Keeps the workspace for later runs where that is wanted, and gives the rest back.
    ///
    /// - Parameter report: The recorded report; nil if there is none: then the run leaves nothing.
    func release(_ report: Report?) async
}

extension FinishedPlace {
    package var machine: String? { nil }
    package var lost: String? { nil }
    package var trace: PlaceTrace? { nil }
}
