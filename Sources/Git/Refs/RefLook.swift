/// What one look at the refs of a repository saw.
public struct RefLook: Sendable {
    /// Equal to that of a later look if no ref moved in between; nil where that can't be told.
    public let stamp: RefStamp?
    /// All refs; nil when none has moved since the look that `settled` is of.
    public let snapshot: RefSnapshot?

    /// Looks at all refs, off the cooperative pool; loose refs are read once for both, and the repository is opened only
    /// when something moved.
    ///
    /// - Parameters:
    ///   - gitDirectory: From ``Repository/gitDirectory``.
    ///   - settled: The ``stamp`` of an earlier look, everything of which is known.
    /// - Throws: ``GitError`` when the repository can't be opened or its refs can't be read, and `CancellationError`.
    public init(at gitDirectory: String, since settled: RefStamp?) async throws {
        self = try await blockingWork.run {
            let common = RefStamp.commonFolder(of: gitDirectory)
            let loose = LooseRefs(in: common)
            // Before the packed ones are read: what moves in between is seen by the next look.
            let stamp = RefStamp(gitDirectory: gitDirectory, common: common, loose)
            if let stamp, stamp == settled { return RefLook(stamp: stamp, snapshot: nil) }
            let snapshot = try lendRepository(at: gitDirectory) { try $0.snapshot(under: "refs/", loose) }
            return RefLook(stamp: stamp, snapshot: snapshot)
        }
    }

    private init(stamp: RefStamp?, snapshot: RefSnapshot?) {
        self.stamp = stamp
        self.snapshot = snapshot
    }
}
