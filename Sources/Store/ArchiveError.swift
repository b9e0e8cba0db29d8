public import Results

/// Why the store or the archive could not do something, and what to do about it.
public struct ArchiveError: Error, Sendable, CustomStringConvertible {
    /// The kind of error. A raw value, so that later versions can add more.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The store's file is not a database, or its pages contradict each other.
        public static let damagedIndex = Code(rawValue: "damagedIndex")
        /// A newer version of pipectl wrote the store.
        public static let newerIndex = Code(rawValue: "newerIndex")
        /// The store is missing, or an empty file, although the archive has runs.
        public static let missingIndex = Code(rawValue: "missingIndex")
        /// The disk is full. Nothing was recorded, and the call may be repeated.
        public static let diskFull = Code(rawValue: "diskFull")
        /// The store could not be opened or written: permissions, or no file descriptors left.
        public static let unusableIndex = Code(rawValue: "unusableIndex")
        /// The repository has no baseline yet.
        public static let noBaseline = Code(rawValue: "noBaseline")
        /// Another observation moved the cursor of a ref in the meantime.
        public static let cursorMoved = Code(rawValue: "cursorMoved")
        /// There is no run with this number.
        public static let unknownRun = Code(rawValue: "unknownRun")
        /// There is no task with this number.
        public static let unknownTask = Code(rawValue: "unknownTask")
        /// The run is not in the state that the call needs.
        public static let wrongState = Code(rawValue: "wrongState")
        /// The run already has another verdict.
        public static let verdictGiven = Code(rawValue: "verdictGiven")
        /// The archive already has another report under this number.
        public static let alreadyArchived = Code(rawValue: "alreadyArchived")
        /// The archive can't be opened or written.
        public static let unusableArchive = Code(rawValue: "unusableArchive")
        /// The repository that receives a copy of the archive is missing, or refuses the copy.
        public static let unusableCopy = Code(rawValue: "unusableCopy")
        /// An object or a file of an archived run is missing or altered.
        public static let damagedRun = Code(rawValue: "damagedRun")
        /// A newer version of pipectl wrote the report.
        public static let newerReport = Code(rawValue: "newerReport")
        /// The archived run has no file of this name.
        public static let noSuchFile = Code(rawValue: "noSuchFile")
        /// An artifact's digest differs from the one in the report.
        public static let digestMismatch = Code(rawValue: "digestMismatch")
        /// An artifact can't be copied: none matches, its name is not safe, or a file exists in its place.
        public static let badArtifact = Code(rawValue: "badArtifact")
        /// A file to be archived can't be read, or is not a regular file.
        public static let unreadableFile = Code(rawValue: "unreadableFile")
    }

    /// The kind of error.
    public var code: Code
    /// What is wrong, with the value, and what to do next.
    public var description: String
    /// The run that the error is about, if there is one.
    public var run: RunID?
    /// The error that caused this one, if there is one.
    public var cause: (any Error)?

    public init(_ code: Code, _ description: String, run: RunID? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.description = description
        self.run = run
        self.cause = cause
    }

    /// The error for a number that no run has.
    public static func unknownRun(_ id: RunID) -> ArchiveError {
        ArchiveError(.unknownRun, "no run \(id); `pipectl runs` lists them", run: id)
    }
}
