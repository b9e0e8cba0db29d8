/// A test that is known to fail. Until a certain day, its failures do not fail the run.
public struct Quarantine: Sendable, Equatable, Codable {
    /// The test's name in reports, `Suite/name`, or the last part of that.
    public var test: String
    /// The last day of the quarantine, in UTC: `2026-12-31`.
    public var until: String
    /// Why the test is quarantined, and what is being done about it.
    public var reason: String

    /// A quarantine up to and including the day `until`, in UTC: `2026-12-31`.
    public init(test: String, until: String, reason: String) {
        self.test = test
        self.until = until
        self.reason = reason
    }

    /// The longest quarantine, in days from today.
    public static let maximumDays = 90

    /// Whether the quarantine is for this test: ``test`` is its whole name, or the last part of its name.
    public func covers(_ id: String) -> Bool {
        let plain = id.hasSuffix("()") ? String(id.dropLast(2)) : id
        let wanted = test.hasSuffix("()") ? String(test.dropLast(2)) : test
        return plain == wanted || plain.hasSuffix("." + wanted) || plain.hasSuffix("/" + wanted)
    }
}

extension Workflow {
    /// Lets the run pass although this test fails, until a day that is at most 90 days ahead.
    ///
    /// The report still shows the failure. From the day after, or if the day is too far away, the failure counts again,
    /// and a finding says so. The quarantine is read from the target's definition, so a change can't quarantine tests
    /// itself.
    ///
    /// - Parameters:
    ///   - test: The test's name in reports, `Suite/name`, or the last part of that.
    ///   - until: The last day of the quarantine, in UTC: `2026-12-31`.
    ///   - reason: Why the test is quarantined, and what is being done about it.
    public func quarantine(_ test: String, until: String, because reason: String) -> Workflow {
        var copy = self
        copy.declaration.quarantine =
            (copy.declaration.quarantine ?? []) + [Quarantine(test: test, until: until, reason: reason)]
        return copy
    }
}
