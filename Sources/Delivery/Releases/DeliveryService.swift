import Concurrency
package import Engine
package import Pipeline
import Results
import Signing
package import Store

/// Makes releases and brings them to their users.
package struct DeliveryService: Sendable {
    /// The publisher for a destination.
    ///
    /// - Parameter secrets: By name, those that the destination names.
    package typealias Publishers =
        @Sendable (_ destination: Destination, _ repository: String, _ secrets: [String: [UInt8]]) async throws ->
        any Publisher

    package let index: Store.Index
    package let folders: ReleaseFolders
    package let sources: any ReleaseSources
    /// The path of an archived artifact's content; nil if it is not stored.
    package let artifact: @Sendable (_ sha256: String) -> String?
    package let publishers: Publishers
    let turns = PublishingTurns()

    package init(
        index: Store.Index, folders: ReleaseFolders, sources: any ReleaseSources,
        artifact: @escaping @Sendable (_ sha256: String) -> String?, publishers: @escaping Publishers
    ) {
        self.index = index
        self.folders = folders
        self.sources = sources
        self.artifact = artifact
        self.publishers = publishers
    }

    package var records: ReleaseRecords { ReleaseRecords(index, folders) }

    /// Removes what a process that was killed has left: private keys, and folders of releases that were being filled.
    ///
    /// - Parameter work: Where destinations have their private files.
    /// - Returns: How many folders there were.
    /// - Throws: ``DeliveryProblem`` with `.machine`.
    package func removeLeft(work: String) async throws -> Int {
        try await offThread { [folders] in try PrivateFolder.removeLeft(in: work) + folders.removeLeft() }
    }

    /// Finds out, before a run's other steps take their time, that a step can't make or publish its release.
    ///
    /// - Parameters:
    ///   - tag: The tag of the release; nil if it is not known.
    ///   - commit: The commit of the release.
    ///   - secrets: By name, those that the step names.
    /// - Throws: ``DeliveryProblem``; errors of the index.
    package func check(
        _ step: PlannedStep, of repository: String, tag: String?, at commit: String, secrets: [String: [UInt8]]
    ) async throws {
        switch step.action {
        case .release(let plan): _ = try Signers(plan.signatures, secrets)
        case .publish(let destination):
            let publisher = try await publishers(destination, repository, secrets)
            try await publisher.check()
            if let tag { try await publisher.check(tag: tag, at: commit) }
        case .shell, .command, .closure, .approval: break
        }
    }

    /// What makes and publishes the release of one run.
    package func work(_ basis: ReleaseBasis) -> any ReleaseWork { RunRelease(service: self, basis: basis) }
}

/// The release of one run.
private struct RunRelease: ReleaseWork {
    let service: DeliveryService
    let basis: ReleaseBasis

    func perform(
        _ order: ReleaseOrder, say: @escaping @Sendable (String) -> Void
    ) async throws -> [ArtifactRecord] {
        guard basis.trust == .merged else { throw ReleaseFailure.unmerged }
        do {
            switch order.step.action {
            case .release(let plan): return try await ReleaseMaker(service, basis).make(plan, order, say: say)
            case .publish(let destination):
                try await ReleasePublishing(service, basis).publish(to: destination, order, say: say)
                return []
            case .shell, .command, .closure, .approval: return []
            }
        } catch let problem as DeliveryProblem {
            throw ReleaseFailure(
                problem.description, isOfMachine: [.unreachable, .machine].contains(problem.code))
        } catch let error as SigningError {
            throw ReleaseFailure(error.description)
        }
    }
}
