/// How long a test took in earlier runs, and whether a new time is unusually long.
///
/// It uses the median and the median absolute deviation (Rousseeuw and Croux, "Alternatives to the Median Absolute
/// Deviation", 1993). A few outliers move neither of them, but they would move a mean.
public struct DurationHistory: Sendable, Equatable {
    /// With fewer runs, the deviation is not known well enough.
    public static let minimumSamples = 5

    /// In seconds.
    public var median: Double
    /// The median absolute deviation, in seconds.
    public var deviation: Double
    /// The number of runs.
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

    /// A test counts as slower only if it is slower by at least this many seconds and by this part of its median.
    /// Smaller differences are not worth acting on, and on a shared machine other processes cause most of them.
    public static let leastSeconds = 1.0
    public static let leastPart = 0.5

    /// Whether a test took longer than its past and the machine's load explain: by five deviations (of a normal
    /// distribution), by half of its median, and by a second.
    ///
    /// - Parameter load: How much longer everything took in that run; see ``RunLoad``.
    public func isSlower(_ seconds: Double, load: Double = 1) -> Bool {
        let expected = median * max(load, 1)
        return seconds.isFinite
            && seconds > expected
                + max(
                    5 * 1.4826 * deviation * max(load, 1), Self.leastPart * expected, Self.leastSeconds)
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }
}
