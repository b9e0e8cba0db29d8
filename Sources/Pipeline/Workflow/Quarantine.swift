/// A test whose failures are known, and for some time fail nothing.
public struct Quarantine: Sendable, Equatable, Codable {
    /// As reports name it, `Suite/name`, or the end of that.
    public var test: String
    /// The last day on which it holds, `2026-12-31`, in UTC.
    public var until: String
    /// What is being done about it.
    public var reason: String

    public init(test: String, until: String, reason: String) {
        self.test = test
        self.until = until
        self.reason = reason
    }

    /// Further than so many days ahead nobody means to mend it.
    public static let maximumDays = 90

    /// Whether a test is the one that is meant: by its whole name, or from a part of it on.
    public func covers(_ id: String) -> Bool {
        let plain = id.hasSuffix("()") ? String(id.dropLast(2)) : id
        let wanted = test.hasSuffix("()") ? String(test.dropLast(2)) : test
        return plain == wanted || plain.hasSuffix("." + wanted) || plain.hasSuffix("/" + wanted)
    }
}

extension Workflow {
    /// Lets the run pass although this test fails, until a day that is at most 90 days ahead.
    ///
    /// The failure stays in the report. From the day after, or where the day is too far away, it counts, and a finding
    /// says so. It is the target's definition that counts: a change can't put its own tests away.
    ///
    /// - Parameters:
    ///   - test: As reports name it, `Suite/name`, or the end of that.
    ///   - until: The last day on which it holds: `2026-12-31`, in UTC.
    ///   - reason: What is being done about it.
    public func quarantine(_ test: String, until: String, because reason: String) -> Workflow {
        var copy = self
        copy.declaration.quarantine =
            (copy.declaration.quarantine ?? []) + [Quarantine(test: test, until: until, reason: reason)]
        return copy
    }
}
