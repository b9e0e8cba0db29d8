public import Pipeline

/// A run that acts on the outside world, with what it released.
public struct ReleaseRun: Sendable, Equatable, Codable {
    public var run: RunSummary
    /// The changes that landed with its commit, oldest first.
    public var landed: [MergedChange]
    public var artifacts: [ArtifactRecord]

    public init(run: RunSummary, landed: [MergedChange], artifacts: [ArtifactRecord]) {
        (self.run, self.landed, self.artifacts) = (run, landed, artifacts)
    }
}
