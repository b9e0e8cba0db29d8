public import Results

/// The bundle of a run, as a command wants it.
public struct BundleRequest: Sendable, Codable {
    /// The run, ended or live.
    public var run: RunID
    /// The most bytes of UTF-8 that it may have. The daemon raises a number that is too small for any bundle.
    public var bytes: Int
    /// Markdown or JSON.
    public var format: BundleFormat

    public init(run: RunID, bytes: Int, format: BundleFormat) {
        self.run = run
        self.bytes = bytes
        self.format = format
    }
}
