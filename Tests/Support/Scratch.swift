import Foundation
import Synchronization

/// A folder for one test, which is removed afterwards. Its path is short enough for a socket.
package func withScratchFolder<T>(_ body: (String) async throws -> T) async throws -> T {
    // In memory if possible, because some tests make thousands of folders.
    let base = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : "/tmp"
    let path = base + "/pipectl-t\(getpid())-\(UInt32.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}

package struct CommandFailure: Error { package var command: [String] }

/// Runs a command to its end without blocking a thread of the pool.
package func runCommand(_ command: String...) async throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    let status = try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
        process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
        do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    guard status == 0 else { throw CommandFailure(command: command) }
}

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
