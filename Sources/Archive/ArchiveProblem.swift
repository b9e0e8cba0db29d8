public import Results
import Store

/// A problem in the archive or in the store.
public struct ArchiveProblem: Sendable, Equatable, Codable {
    /// The kind of problem.
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// An object or file of the run is missing, or was altered.
        case damagedRun
        /// A newer version of pipectl wrote the report.
        case newerReport
        /// The file of an artifact is missing.
        case missingArtifact
        /// The file of an artifact differs from the digest in the report.
        case damagedArtifact
        /// According to the store the run is archived, but it is not.
        case notInArchive
        /// The archive has the run, but the store does not.
        case notInIndex
        /// The store and the archive have different facts about the run.
        case contradiction
    }

    /// What is wrong, to switch on.
    public var kind: Kind
    /// The run's number.
    public var run: RunID
    /// What is wrong, with the value, and what to do next.
    public var description: String

    public init(_ kind: Kind, _ run: RunID, _ description: String) {
        self.kind = kind
        self.run = run
        self.description = description
    }

    init(_ error: ArchiveError, _ run: RunID) {
        let kind: Kind =
            switch error.code {
            case .newerReport: .newerReport
            case .alreadyArchived: .contradiction
            default: .damagedRun
            }
        self.init(kind, run, error.description)
    }
}
