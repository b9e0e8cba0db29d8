public import Results
public import Store
public import Foundation
internal import Git

/// The complete record of runs: a bare Git repository with one commit for each finished run, and the artifacts beside
/// it.
///
/// `archive.git` has `refs/runs/ID`, each of which is a commit without parents whose tree has
/// - `report.json`: the ``Report``; `request.json`: the run's request
/// - `tests.json`: every try of every test, if there were tests
/// - `logs/FILE` and `logs/FILE.times`
/// - `results/FILE`: the result files as the steps wrote them
/// - `artifacts.json`: the stored artifacts; their bytes are in `artifacts/ab/cdef…`, by SHA-256
///
/// A run ends with one transaction of the index, which keeps these files: ``record(_:request:tests:files:in:)``. They
/// come here later: ``export(from:)``. Until then readers find them in the index. A run's commit never changes; what may
/// be added to its report is a commit on top.
public struct ArchiveStore: Sendable {
    /// The folder that holds `archive.git` and `artifacts`.
    public let home: String
    let now: @Sendable () -> Date
    /// Where the files of runs are that the archive does not have yet; nil to read the archive alone.
    var queue: Index?
    /// Passed by who writes to `archive.git`, or must see it and the index at one moment.
    let writing = SerialGate()
    let recentTests = RecentTestResults()
    /// One element at the start and whenever files wait.
    public let news: AsyncStream<Void>
    let tell: AsyncStream<Void>.Continuation

    /// Opens the archive in `home`, and creates it if there is none.
    ///
    /// - Parameter queue: The index beside it, in which the newest runs are.
    /// - Throws: `.unusableArchive`.
    public init(home: String, queue: Index? = nil, now: @escaping @Sendable () -> Date = { Date() }) throws {
        self.home = home
        self.queue = queue
        self.now = now
        (news, tell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        tell.yield()
        do {
            try FileManager.default.createDirectory(atPath: artifacts.folder, withIntermediateDirectories: true)
            if FileManager.default.fileExists(atPath: repositoryPath + "/HEAD") {
                _ = try Repository(opening: repositoryPath)
            } else {
                let repository = try Repository.create(bareAt: repositoryPath)
                // Without these it is not a repository.
                for file in ["HEAD", "config", "objects/info"] {
                    try DiskFlush.flush("\(repository.commonDirectory)/\(file)")
                }
                try Self.flushNames(of: repository)
                try DiskFlush.flush(home)
            }
        } catch {
            throw ArchiveError(
                .unusableArchive,
                "The archive in \"\(home)\" can't be used: \(Self.words(error)) Check that the folder belongs to you, or "
                    + "move archive.git away to begin a new one.", cause: error)
        }
    }

    /// The same archive, read together with what waits in `index`.
    public func reading(_ index: Index) -> ArchiveStore {
        var store = self
        store.queue = index
        return store
    }

    /// The path of the bare repository, for `git`.
    public var repositoryPath: String { home + "/archive.git" }
    var artifacts: ArtifactFolder { ArtifactFolder(folder: home + "/artifacts") }
    var queueFolder: ArchiveQueueFolder { ArchiveQueueFolder(folder: home + "/archive-queue") }

    static let refPrefix = "refs/runs/"
    static func ref(_ id: RunID) -> String { refPrefix + String(id) }

    /// The numbers of all runs that `archive.git` has, ascending.
    public func ids() async throws -> [RunID] {
        try await refs().map(\.id)
    }

    /// The path of an artifact's file; nil if the archive has none with this digest.
    public func artifact(_ sha256: String) -> String? {
        guard let path = artifacts.path(sha256), FileManager.default.fileExists(atPath: path) else { return nil }
        return path
    }

    /// The path of an artifact's file, which no retention removes within the next hour; nil if there is none, or if it
    /// has another size.
    public func wantedArtifact(_ sha256: String, bytes: Int) -> String? {
        artifacts.want(sha256, bytes: bytes) ? artifacts.path(sha256) : nil
    }

    func refs() async throws -> [(id: RunID, commit: OID)] {
        try await withArchive { repository in
            try repository.snapshot().refs.compactMap { name, commit in
                guard name.hasPrefix(Self.refPrefix), let id = RunID(name.dropFirst(Self.refPrefix.count)) else {
                    return nil
                }
                return (id, commit)
            }
            .sorted { $0.id < $1.id }
        }
    }

    /// Flushes the folders that have the names of runs and objects, and the file that packed refs are in.
    static func flushNames(of repository: Repository) throws {
        for name in ["", "/packed-refs", "/refs", "/refs/runs", "/objects", "/objects/pack"] {
            try DiskFlush.flushIfThere(repository.commonDirectory + name)
        }
    }

    /// Runs blocking work with the archive's repository, and adds to a Git error where it came from.
    func withArchive<T: Sendable>(_ body: @Sendable @escaping (Repository) throws -> T) async throws -> T {
        do {
            return try await withRepository(at: repositoryPath, body)
        } catch let error as GitError {
            throw ArchiveError(
                .unusableArchive,
                "\"\(repositoryPath)\": \(Self.words(error)) `pipectl archive verify` lists what is damaged.",
                cause: error)
        }
    }

    static func words(_ error: any Error) -> String {
        let text =
            (error as? ArchiveError)?.description ?? (error as? GitError)?.description ?? error.localizedDescription
        return text.hasSuffix(".") ? text : text + "."
    }
}
