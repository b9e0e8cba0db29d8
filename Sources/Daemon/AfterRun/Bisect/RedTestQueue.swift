import Control

/// Failing tests of branches, whose causes are searched one after the other.
struct RedTestQueue: Sendable {
    let requests: AsyncStream<BisectRequest>
    private let continuation: AsyncStream<BisectRequest>.Continuation

    init() {
        // More than a person would read. A dropped request is made again if the test still fails.
        (requests, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(100))
    }

    /// Queues a search; returns at once.
    func add(_ request: BisectRequest) { continuation.yield(request) }
}
