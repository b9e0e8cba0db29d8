/// What a snapshot on the right machine is worth to a run, by the durations of earlier runs of its workflow.
package enum WarmWorth {
    /// The seconds that a run is expected to gain by a snapshot.
    ///
    /// It is the difference of the medians, made smaller while few runs are known, so that one slow run does not make
    /// others wait for a machine.
    ///
    /// - Parameters:
    ///   - cold: Seconds of runs that started without a snapshot.
    ///   - warm: Seconds of runs that started from one.
    package static func seconds(cold: [Double], warm: [Double]) -> Double {
        let (cold, warm) = (cold.filter(isDuration), warm.filter(isDuration))
        guard let slow = median(cold), let fast = median(warm) else { return 0 }
        let known = Double(min(cold.count, warm.count))
        return max(slow - fast, 0) * known / (known + 1)
    }

    static func median(_ values: [Double]) -> Double? {
        let sorted = values.filter(isDuration).sorted()
        guard !sorted.isEmpty else { return nil }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    private static func isDuration(_ seconds: Double) -> Bool { seconds.isFinite && seconds >= 0 }
}
