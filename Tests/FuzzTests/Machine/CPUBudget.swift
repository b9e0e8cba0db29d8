import Foundation
import TestBasics
import TestSupport

/// Holds a check to an amount of CPU time, which another process on the machine can't make longer.
enum CPUBudget {
    /// Seconds for an input of up to 1 MiB. Without optimisation Swift's collections are many times slower.
    #if DEBUG
        static let seconds = 10.0
    #else
        static let seconds = 2.0
    #endif
    /// Below this a ratio is noise.
    static let measurable = 0.2
    /// Four times the input takes 4 times as long where the time is linear, 16 times where it is quadratic.
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
        // Twice, and the kinder one: a page fault or a cache that was cold is no finding.
        guard whole / max(try spent(quarter), 0.000_1) > ratio else { return }
        let again = try spent(input.bytes) / max(try spent(quarter), 0.000_1)
        try demand(
            again <= ratio,
            "\(input.bytes.count) bytes take \(again) times as long (\(whole) s) as \(quarter.count) bytes")
    }

    /// Seconds of CPU time that this thread has used.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
