public import Results
import Store

/// Something in the archive or the index that is not as it should be.
public struct ArchiveProblem: Sendable, Equatable, Codable {
    public enum Kind: String, Sendable, Codable, CaseIterable {
        /// An object or file of the run is missing, or its bytes are not those that were written.
        case damagedRun
        /// The report was written by a newer pipectl.
        case newerReport
        /// The bytes of an artifact are gone.
        case missingArtifact
        /// The bytes of an artifact are not those that the report names.
        case damagedArtifact
        /// The index says that the run is archived, and it is not.
        case notInArchive
        /// The archive has the run, and the index has not.
        case notInIndex
        /// Index and archive tell different things about the run.
        case contradiction
    }

    public var kind: Kind
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
