public import Results

/// A request for the releases of a repository.
public struct ReleasesQuery: Sendable, Codable, Equatable {
    /// The repository's name, path or URL; nil: all.
    public var repository: String?
    /// How many, newest first.
    public var limit: Int

    public init(repository: String? = nil, limit: Int = 50) {
        self.repository = repository
        self.limit = limit
    }
}

/// One release of a repository.
public struct ReleaseSubject: Sendable, Codable, Equatable {
    /// The repository's name, path or URL.
    public var repository: String
    /// As in `1.2.0`, or the tag; `latest` is the newest that was not withdrawn.
    public var version: String

    public init(repository: String, version: String) {
        self.repository = repository
        self.version = version
    }
}

/// A release, and where the build machine has its files.
public struct ReleaseDetail: Sendable, Codable, Equatable {
    public var release: ReleaseRecord
    /// An absolute path on the build machine.
    public var folder: String

    public init(release: ReleaseRecord, folder: String) {
        self.release = release
        self.folder = folder
    }
}
