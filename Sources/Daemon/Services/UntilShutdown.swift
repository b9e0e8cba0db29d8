import ServiceLifecycle

/// A service that runs until its group shuts down, and is then cancelled: its work is durable at any moment, or
/// repeated at the next start.
struct UntilShutdown: Service {
    let body: @Sendable () async throws -> Void

    func run() async throws {
        do { try await cancelWhenGracefulShutdown(body) } catch is CancellationError {}
    }
}
