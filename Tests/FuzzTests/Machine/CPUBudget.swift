import Foundation
import TestBasics
import TestSupport

/// Limits the CPU time of a check, which other processes on the machine can't lengthen.
enum CPUBudget {
    /// In seconds, for an input of up to 1 MiB. Without optimisation Swift's collections are much slower.
    #if DEBUG
        static let seconds = 10.0
    #else
        static let seconds = 2.0
    #endif
    /// Below this time, in seconds, a ratio is noise.
    static let measurable = 0.2
    /// With four times the input, linear code takes 4 times as long and quadratic code 16 times.
    static let ratio = 9.0

    static func hold(
        _ input: FuzzInput, _ random: inout SplitMix64, _ check: ([UInt8], inout SplitMix64) throws -> Void
    ) throws {
        let start = random
        func spent(_ bytes: [UInt8]) throws -> Double {
            let before = now
            random = start
            try check(bytes, &random)
            return now - before
        }
        let whole = try spent(input.bytes)
        guard whole > measurable else { return }
        try demand(whole <= seconds, "took \(whole) s of CPU time for \(input.bytes.count) bytes")
        guard let quarter = input.quarter else { return }
        // Measured twice, and the smaller ratio counts: a page fault or a cold cache is no finding.
        guard whole / max(try spent(quarter), 0.000_1) > ratio else { return }
        let again = try spent(input.bytes) / max(try spent(quarter), 0.000_1)
        try demand(
            again <= ratio,
            "\(input.bytes.count) bytes take \(again) times as long (\(whole) s) as \(quarter.count) bytes")
    }

    /// The CPU time of this thread, in seconds.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
