import Concurrency

/// One observation of a repository's refs.
public struct RefScan: Sendable {
    /// Equal to the stamp of a later observation if no ref moved in between; nil if that can't be decided.
    public let stamp: RefStamp?
    /// All refs; nil if none has moved since the observation that `settled` belongs to.
    public let snapshot: RefSnapshot?

    /// Reads all refs, off the cooperative pool. Loose refs are read once for both results, and the repository is
    /// opened only if something moved.
    ///
    /// - Parameters:
    ///   - gitDirectory: From ``Repository/gitDirectory``.
    ///   - settled: The ``stamp`` of an earlier observation that was processed completely.
    /// - Throws: ``GitError`` if the repository can't be opened or its refs can't be read, and `CancellationError`.
    public init(at gitDirectory: String, since settled: RefStamp?) async throws {
        self = try await blockingWork.run {
            let common = RefStamp.commonFolder(of: gitDirectory)
            let loose = LooseRefs(in: common)
            // Before the packed refs are read, so that the next observation sees what moves in between.
            let stamp = RefStamp(gitDirectory: gitDirectory, common: common, loose)
            if let stamp, stamp == settled { return RefScan(stamp: stamp, snapshot: nil) }
            let snapshot = try lendRepository(at: gitDirectory) { try $0.snapshot(under: "refs/", loose) }
            return RefScan(stamp: stamp, snapshot: snapshot)
        }
    }

    private init(stamp: RefStamp?, snapshot: RefSnapshot?) {
        self.stamp = stamp
        self.snapshot = snapshot
    }
}
