import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A process that the test started.
package final class Child: Sendable {
    package let id: Int32
    private let stream: AsyncStream<Int32>
    private let ending: Ending

    /// The exit code; for a process that a signal ended, 128 and the signal's number.
    package var end: Int32 { get async { await ending.code(stream) } }

    /// - Parameter output: Its output goes to this path with `1` and `2` appended.
    package init(_ command: [String], in folder: String, environment: [String: String], output: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        for suffix in ["1", "2"] { _ = FileManager.default.createFile(atPath: output + suffix, contents: nil) }
        let outputs = ["1", "2"].map { FileHandle(forWritingAtPath: output + $0) }
        // Closed at once, because a test that starts thousands of processes must not keep a descriptor for each.
        defer { for output in outputs { try? output?.close() } }
        process.standardOutput = outputs[0]
        process.standardError = outputs[1]
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { ended in
            continuation.yield(ended.terminationStatus + (ended.terminationReason == .uncaughtSignal ? 128 : 0))
            continuation.finish()
        }
        try process.run()
        id = process.processIdentifier
        self.stream = stream
        ending = Ending()
    }

    /// Kills it; does nothing if it has ended.
    package func kill() {
        guard ending.isRunning else { return }
        #if canImport(Darwin)
            Darwin.kill(id, SIGKILL)
        #else
            Glibc.kill(id, SIGKILL)
        #endif
    }

    package func kill(after limit: Duration) async {
        do { try await Task.sleep(for: limit) } catch { return }
        kill()
    }
}

/// The end of a process, which several tasks may wait for.
private final class Ending: Sendable {
    private let known = Mutex<Int32?>(nil)

    var isRunning: Bool { known.withLock { $0 == nil } }

    func code(_ stream: AsyncStream<Int32>) async -> Int32 {
        for await code in stream { known.withLock { $0 = code } }
        return known.withLock { $0 } ?? -1
    }
}
