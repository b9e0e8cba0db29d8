import Foundation
import Synchronization

/// Something that happens once, and that a test waits for.
package final class Happening: Sendable {
    private let stream: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let happened = Mutex(false)

    package init() { (stream, continuation) = AsyncStream.makeStream() }

    package func happens() {
        happened.withLock { $0 = true }
        continuation.finish()
    }

    /// Returns once it has happened. Only one task may wait.
    package func wait() async throws {
        for await _ in stream {}
        try Task.checkCancellation()
    }

    package var hasHappened: Bool { happened.withLock { $0 } }
}

/// A task that ends only when it is cancelled.
package func untilCancelled() async {
    let happening = Happening()
    await withTaskCancellationHandler {
        try? await happening.wait()
    } onCancel: {
        happening.happens()
    }
}

/// The open descriptors of this process whose link or information contains `text` (Linux).
package func descriptors(about text: String) -> [Int32] {
    let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return all.compactMap(Int32.init).filter { number in
        let link = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")) ?? ""
        let facts = (try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8)) ?? ""
        return link.contains(text) || facts.contains(text)
    }
}

/// A number to which several tasks add.
package final class Count: Sendable {
    private let count = Mutex(0)
    package init() {}
    package var value: Int { count.withLock { $0 } }
    package func add() { count.withLock { $0 += 1 } }
}
