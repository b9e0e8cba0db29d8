public import Results
internal import Store
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
/// What is not flushed yet is in its `pipectl-journal`: ``beginJournal()``, ``recover()``.
///
/// A run's commit never changes. Archive a run before ``Index/finish(_:tests:archivedBytes:)``: after a crash between
/// the two, ``settle(_:)`` completes it.
public struct ArchiveStore: Sendable {
    /// The folder that holds `archive.git` and `artifacts`.
    public let home: String
    let now: @Sendable () -> Date
    let journal: ArchiveJournal

    /// Opens the archive in `home`, and creates it if there is none.
    public init(home: String, now: @escaping @Sendable () -> Date = { Date() }) throws {
        self.home = home
        self.now = now
        journal = ArchiveJournal(repository: home + "/archive.git")
        do {
            try FileManager.default.createDirectory(atPath: artifacts.folder, withIntermediateDirectories: true)
            if FileManager.default.fileExists(atPath: repositoryPath + "/HEAD") {
                _ = try Repository(opening: repositoryPath)
            } else {
                let repository = try Repository.create(bareAt: repositoryPath)
                // Without these it is not a repository.
                let files = ["HEAD", "config", "objects/info"].map { repository.commonDirectory + "/" + $0 }
                try ObjectBatch.flush(Self.names(in: repository).union(files + [home]))
            }
        } catch {
            throw ArchiveError(
                .unusableArchive,
                "The archive in \"\(home)\" can't be used: \(Self.words(error)) Check that the folder belongs to you, or "
                    + "move archive.git away to begin a new one.", cause: error)
        }
    }

    /// The path of the bare repository, for `git`.
    public var repositoryPath: String { home + "/archive.git" }
    var artifacts: ArtifactFolder { ArtifactFolder(folder: home + "/artifacts") }

    static let refPrefix = "refs/runs/"
    static func ref(_ id: RunID) -> String { refPrefix + String(id) }

    /// The numbers of all archived runs, ascending.
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
