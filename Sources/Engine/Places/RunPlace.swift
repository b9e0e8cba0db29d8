package import Concurrency
package import Foundation
package import Pipeline
package import Results
package import SystemPackage

/// Where the steps of one run are run: a workspace with the tested files, what encloses the steps, and their processes.
///
/// The engine decides what is run when, judges how it ended, and keeps what it left; all that it knows of the machine
/// on which steps run is this protocol. ``LocalPlace`` is the machine of the daemon.
package protocol RunPlace: Sendable {
    /// Prepares the place for the steps of `plan`, calls `body`, and ends every process of the run.
    ///
    /// The place keeps the limits of the plan and of its steps, except for the run's wall-clock time.
    ///
    /// - Returns: What `body` returned, and whether every process of the run has certainly ended.
    /// - Throws: Why no step can be run there. `body` was not called then, and nothing is left to give back.
    func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool)
}

/// A place while the steps of a run are run there.
package protocol OpenPlace: Sendable {
    /// When the run began, by the clock that stamps the files of the place.
    var begunAt: Date { get }

    /// Runs one attempt of a step to its end, or until `stop` is requested or the step's time-out has passed.
    ///
    /// This returns only when the command and everything that it started have ended. Cancelling the caller's task counts
    /// as a stop.
    ///
    /// - Parameter output: Receives the output as it arrives, both streams in the order in which they were written. The
    ///   command waits for a slow receiver.
    /// - Throws: `StepProcessProblem`, `StepHostProblem` or `Errno` if the command did not start; ``PlaceProblem`` if the
    ///   place itself failed.
    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd

    /// The files of a folder that `step` sees.
    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource

    /// Gives the steps that start from now on a value that another step has published. It blocks.
    ///
    /// - Parameter file: A JSON file that the place may move.
    /// - Throws: `Errno`.
    func add(value name: String, from file: FilePath) throws

    /// Removes what an attempt has published, because a secret is in it. It blocks.
    func discardPublished(by attempt: StepAttempt)

    /// Puts the outputs that an earlier run stored into the workspace, in place of what is stale there. It blocks.
    ///
    /// - Throws: Why they can't be restored; some of them may be in place then.
    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws

    /// The paths that lead to the workspace of `step`, as its tools may print them.
    func workspacePaths(of step: PlannedStep) -> [FilePath]

    /// Whether its machine can't be reached any more.
    var isLost: Bool { get }
    /// The other machines on which steps of the run may run; nil if there are none.
    var sites: (any StepSites)? { get }
}

extension OpenPlace {
    package var isLost: Bool { false }
    package var sites: (any StepSites)? { nil }
}

/// A folder of a place from which the engine takes files.
package enum PlaceFolder: Sendable, Equatable, Codable {
    /// The folder in which the step runs.
    case workspace
    /// The folder in which the attempt with this label publishes values, and leaves its findings or its review.
    case published(label: String)
}

/// Why a place can't run steps any more: its machine, or the connection to it, is gone.
package struct PlaceProblem: Error, Sendable, Equatable, Codable, CustomStringConvertible {
    /// A sentence for the report.
    package var reason: String
    /// Whether the command may have been started.
    package var mayHaveActed: Bool
    package var description: String { reason }

    package init(reason: String, mayHaveActed: Bool) {
        self.reason = reason
        self.mayHaveActed = mayHaveActed
    }
}
