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

    /// The least number of seconds, and the least part of its median, by which a test is slower. Less is nothing that
    /// anybody would act on, and on a shared box mostly the neighbours.
    public static let leastSeconds = 1.0
    public static let leastPart = 0.5

    /// Whether a test took longer than its past and the box's load explain: by five deviations (of a normal
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
