package import Pipeline
package import Results
package import SystemPackage

/// Makes and publishes releases for a run. The daemon does that itself, outside the sandbox, so that no code of the
/// repository sees the keys.
package protocol ReleaseWork: Sendable {
    /// Makes or publishes a release, as the step's action says. It may be called again after a crash or a failure, and
    /// continues then.
    ///
    /// - Parameter say: Receives lines for the step's log.
    /// - Returns: The files that were made, with their content in the folder ``ReleaseOrder/folder``, by digest.
    /// - Throws: ``ReleaseFailure``. Another error counts as one of the machine.
    func perform(
        _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
    ) async throws -> [ArtifactRecord]
}

/// One step that makes or publishes a release.
package struct ReleaseOrder: Sendable {
    package var step: PlannedStep
    /// What the steps before it have left.
    package var earlier: EarlierSteps
    /// The folder of the run's artifacts, which are named by their digest. Those of steps that were not run here are
    /// only in the archive.
    package var folder: FilePath
    /// By name, the secrets that the step names.
    package var secrets: [String: [UInt8]]
}

/// What steps have left.
package struct EarlierSteps: Sendable {
    package var records: [StepRecord] = []
    package var artifacts: [ArtifactRecord] = []
}

/// Why a release was not made or published.
package struct ReleaseFailure: Error, Sendable, Equatable {
    /// A sentence with the next step.
    package var reason: String
    /// Whether the machine or a server failed, and not the release or its workflow.
    package var isOfMachine: Bool

    package init(_ reason: String, isOfMachine: Bool = false) {
        (self.reason, self.isOfMachine) = (reason, isOfMachine)
    }

    /// The commit is on no protected branch.
    package static let unmerged = ReleaseFailure(
        "only merged code is released, and this commit is on no protected branch: land it, or protect its branch with "
            + "`pipectl watch --protected 'release/*'` (setting `trust.protected`), and run it again")
}
