import ForgeConnection
import Foundation

/// How long a forge is not asked after failures.
struct ForgePause {
    /// The longest pause, in seconds, unless the forge asks for a longer one.
    static let longest = 600.0

    private var failures = 0
    /// The forge is not asked before.
    private(set) var end = Date.distantPast

    /// Each failure in a row doubles the pause.
    ///
    /// - Returns: The number of failures in a row.
    mutating func begin(after error: ForgeError, at now: Date) -> Int {
        failures += 1
        let pause = min(pow(2, Double(min(failures, 20))), Self.longest)
        end = max(error.retryAt ?? .distantPast, now.addingTimeInterval(pause))
        return failures
    }

    /// Notes that the forge answered; whether it had failed before.
    mutating func ends() -> Bool {
        defer { failures = 0 }
        return failures > 0
    }
}
