/// What a test waited for did not happen.
package struct NeverHappened: Error, CustomStringConvertible {
    package var what: String
    package var limit: Duration

    package var description: String { "\(what) did not happen within \(limit)" }
}

/// Asks again and again until the answer is yes; false when the time is over. What is waited for is never an event of the
/// test's own process: those have ``Happening`` and streams.
package func becomesTrue(within limit: Duration, _ condition: () async throws -> Bool) async throws -> Bool {
    let clock = ContinuousClock()
    let end = clock.now + limit
    while true {
        if try await condition() { return true }
        if clock.now >= end { return false }
        try await Task.sleep(for: .milliseconds(5))
    }
}

/// Waits until `condition` is true.
///
/// - Throws: ``NeverHappened`` when the time is over; what `condition` throws.
package func eventually(
    _ what: String = "what was waited for", within limit: Duration = .seconds(120),
    _ condition: () async throws -> Bool
) async throws {
    guard try await becomesTrue(within: limit, condition) else { throw NeverHappened(what: what, limit: limit) }
}
