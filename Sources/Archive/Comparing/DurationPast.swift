/// The times that a test took before, and whether a new one is out of them.
///
/// Median and median absolute deviation, which a few outliers don't move (Rousseeuw and Croux, "Alternatives to the
/// Median Absolute Deviation", 1993): a mean would be pulled by the one slow run that the box had last night.
public struct DurationPast: Sendable, Equatable {
    /// Fewer runs say nothing about noise.
    public static let minimumSamples = 5

    public var median: Double
    public var deviation: Double
    public var samples: Int

    /// Nil for fewer than ``minimumSamples`` usable times.
    public init?(_ seconds: [Double]) {
        let usable = seconds.filter { $0.isFinite && $0 >= 0 }
        guard usable.count >= Self.minimumSamples else { return nil }
        let middle = Self.median(usable)
        median = middle
        deviation = Self.median(usable.map { abs($0 - middle) })
        samples = usable.count
    }

    /// Whether `seconds` is more than noise: beyond five deviations (of a normal distribution), beyond a quarter, and
    /// beyond 50 ms, which no clock and no scheduler of a shared box keeps.
    public func isSlower(_ seconds: Double) -> Bool {
        seconds.isFinite && seconds > median + max(5 * 1.4826 * deviation, 0.25 * median, 0.05)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
