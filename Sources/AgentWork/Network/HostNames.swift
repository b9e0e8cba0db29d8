import Concurrency
package import Pipeline
package import SystemCalls

/// What the names of hosts mean, and which addresses may be connected to.
package struct HostNames: Sendable {
    package var addresses: @Sendable (AllowedHost) async throws -> [NetworkTarget]
    package var permits: @Sendable (NetworkTarget) -> Bool

    package init(
        addresses: @escaping @Sendable (AllowedHost) async throws -> [NetworkTarget],
        permits: @escaping @Sendable (NetworkTarget) -> Bool
    ) {
        self.addresses = addresses
        self.permits = permits
    }

    /// What the machine's resolver knows; only public addresses.
    package static let machine = HostNames(addresses: { try await resolved($0) }, permits: { $0.isPublic })

    /// The resolver is not waited for after a cancellation.
    private static func resolved(_ host: AllowedHost) async throws -> [NetworkTarget] {
        let (stream, continuation) = AsyncStream<Result<[NetworkTarget], any Error>>.makeStream()
        let code = startThread {
            continuation.yield(Result { try NetworkTarget.resolve(host.name, port: host.port) })
            continuation.finish()
        }
        guard code == 0 else { throw SystemFailure("pthread_create", code) }
        for await result in stream { return try result.get() }
        throw CancellationError()
    }
}
