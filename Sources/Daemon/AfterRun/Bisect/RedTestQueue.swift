import Control

/// Tests of branches that turned red, whose causes are looked for one after the other.
struct RedTestQueue: Sendable {
    let requests: AsyncStream<BisectRequest>
    private let continuation: AsyncStream<BisectRequest>.Continuation

    init() {
        // More than anybody would read the answers of. A dropped one is asked about again if it is still red.
        (requests, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(100))
    }

    /// Queues a search; returns at once.
    func add(_ request: BisectRequest) { continuation.yield(request) }
}
