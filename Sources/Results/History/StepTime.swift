/// How long a step usually takes.
public struct StepTime: Sendable, Equatable, Codable {
    /// The most runs that are considered.
    public static let runs = 20

    /// The median in wall-clock seconds.
    public var median: Double
    /// The number of runs that the median is from.
    public var runs: Int

    public init(median: Double, runs: Int) {
        self.median = median
        self.runs = runs
    }
}
