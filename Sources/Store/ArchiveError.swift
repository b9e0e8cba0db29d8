public import Results

/// What the index or the archive could not do, and what to do about it.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// Open, so that a later version can tell more apart.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The index file is no database, or its pages contradict each other.
        public static let damagedIndex = Code(rawValue: "damagedIndex")
        /// The index was written by a newer pipectl.
        public static let newerIndex = Code(rawValue: "newerIndex")
        /// There is no index, or an empty file, beside an archive that has runs.
        public static let missingIndex = Code(rawValue: "missingIndex")
        /// The disk is full: nothing was recorded. It may be tried again.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The index could not be opened or written: permissions, no descriptors left.
        public static let unusableIndex = Code(rawValue: "unusableIndex")
        /// The repository has not been looked at before.
        public static let noBaseline = Code(rawValue: "noBaseline")
        /// Another look moved the cursor of a ref in between.
        public static let cursorMoved = Code(rawValue: "cursorMoved")
        /// No run has this number.
        public static let unknownRun = Code(rawValue: "unknownRun")
        /// The run is not in the state that the call needs.
        public static let wrongState = Code(rawValue: "wrongState")
        /// The run has another verdict already.
        public static let verdictGiven = Code(rawValue: "verdictGiven")
        /// The archive holds another report under this number.
        public static let alreadyArchived = Code(rawValue: "alreadyArchived")
        /// The archive can't be opened or written.
        public static let unusableArchive = Code(rawValue: "unusableArchive")
        /// The repository that the archive is to be copied to is missing, or refuses the copy.
        public static let unusableCopy = Code(rawValue: "unusableCopy")
        /// An object or a file of an archived run is missing or not what it was.
        public static let damagedRun = Code(rawValue: "damagedRun")
        /// The report was written by a newer pipectl.
        public static let newerReport = Code(rawValue: "newerReport")
        /// The archived run has no such file.
        public static let noSuchFile = Code(rawValue: "noSuchFile")
        /// An artifact's bytes don't have the digest that the report names.
        public static let digestMismatch = Code(rawValue: "digestMismatch")
        /// An artifact can't be copied out: none matches, its name is not safe, or a file is in its place.
        public static let badArtifact = Code(rawValue: "badArtifact")
        /// A file to be archived can't be read, or is no regular file.
        public static let unreadableFile = Code(rawValue: "unreadableFile")
    }

    public var code: Code
    /// What is wrong, with the value, and what to do next.
    public var description: String
    public var run: RunID?
    public var cause: (any Error)?

    public init(_ code: Code, _ description: String, run: RunID? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.run = run
        self.cause = cause
    }

    /// The one error for a run that is not there, whoever is asked.
    public static func unknownRun(_ id: RunID) -> ArchiveError {
        ArchiveError(.unknownRun, "no run \(id); `pipectl runs` lists them", run: id)
    }
}
