import ServiceLifecycle

/// A service that goes on until its group shuts down, and is cancelled then: what it does is durable at any moment, or
/// done again at the next start.
struct UntilShutdown: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws {
        do { try await cancelWhenGracefulShutdown(body) } catch is CancellationError {}
    }
}
