import Synchronization

/// Lets one run at a time bring a release to one destination: the runs for a branch and for its tag may have the same
/// commit, and so the same release.
final class PublishingTurns: Sendable {
    /// What one run at a time may publish.
    struct Subject: Sendable, Hashable {
        var repository: String
        var version: String
        var step: String
    }

    private let taken = Mutex<Set<Subject>>([])

    /// Runs `body` if nobody publishes the subject at this moment, and while nobody else may; nil otherwise.
    func takeIfFree<Value>(_ subject: Subject, _ body: () async throws -> Value) async rethrows -> Value? {
        guard taken.withLock({ $0.insert(subject).inserted }) else { return nil }
        defer { taken.withLock { _ = $0.remove(subject) } }
        return try await body()
    }

    /// Runs `body` while nobody else publishes the subject.
    ///
    /// - Parameter waiting: Called once if somebody else does at this moment.
    /// - Throws: `CancellationError`, and errors of `body`.
    func take<Value>(
        _ subject: Subject, waiting: () -> Void, _ body: () async throws -> Value
    ) async throws -> Value {
        var isFirst = true
        while !taken.withLock({ $0.insert(subject).inserted }) {
            if isFirst { waiting() }
            isFirst = false
            try await Task.sleep(for: .milliseconds(20))
        }
        defer { taken.withLock { _ = $0.remove(subject) } }
        return try await body()
    }
}
