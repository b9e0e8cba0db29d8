import Dispatch
import Foundation
import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A process that a test started. Its program is found by the search path; its standard input is empty if no file is given.
package final class Child: Sendable {
    package let id: Int32
    private let ending: Ending

    /// - Parameters:
    ///   - environment: Its whole environment; nil for that of the test.
    ///   - output: Its output goes to this path with `1` and `2` appended.
    ///   - input: The path of the file that it reads.
    package convenience init(
        _ command: [String], in folder: String, environment: [String: String]? = nil, output: String,
        input: String? = nil
    ) throws {
        let input = input.flatMap { FileHandle(forReadingAtPath: $0) }
        // Files, not pipes: nothing has to be read while it runs.
        let outputs = ["1", "2"].map { suffix in
            _ = FileManager.default.createFile(atPath: output + suffix, contents: nil)
            return FileHandle(forWritingAtPath: output + suffix)
        }
        // Closed at once, because a test that starts thousands of processes must not keep a descriptor for each.
        defer { for file in outputs + [input] { try? file?.close() } }
        try self.init(command, folder, environment, [input, outputs[0], outputs[1]])
    }

    /// - Parameter terminal: The path of the terminal that it reads and writes.
    package convenience init(_ command: [String], in folder: String, terminal: String) throws {
        let end = FileHandle(forUpdatingAtPath: terminal)
        defer { try? end?.close() }
        try self.init(command, folder, nil, [end, end, end])
    }

    private init(
        _ command: [String], _ folder: String, _ environment: [String: String]?, _ streams: [FileHandle?]
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        if let environment { process.environment = environment }
        process.standardInput = streams[0] ?? FileHandle.nullDevice
        process.standardOutput = streams[1]
        process.standardError = streams[2]
        let ending = Ending()
        process.terminationHandler = { ended in
            ending.set(ended.terminationStatus + (ended.terminationReason == .uncaughtSignal ? 128 : 0))
        }
        try process.run()
        id = process.processIdentifier
        self.ending = ending
    }

    /// The exit code; for a process that a signal ended, 128 and the signal's number.
    package var end: Int32 { get async { await ending.code() } }

    package var isRunning: Bool { ending.known == nil }

    /// Waits on this thread until it ends, and returns what ``end`` is.
    package func waitUntilEnd() -> Int32 { ending.waitForCode() }

    /// Sends it a signal; does nothing if it has ended.
    package func signal(_ number: Int32) {
        guard isRunning else { return }
        #if canImport(Darwin)
            Darwin.kill(id, number)
        #else
            Glibc.kill(id, number)
        #endif
    }

    /// Kills it; does nothing if it has ended.
    package func kill() { signal(SIGKILL) }

    package func kill(after limit: Duration) async {
        do { try await Task.sleep(for: limit) } catch { return }
        kill()
    }
}

/// The end of a process, which several tasks and threads may wait for.
private final class Ending: Sendable {
    private let group = DispatchGroup()
    private let end = Mutex<Int32?>(nil)

    init() { group.enter() }

    var known: Int32? { end.withLock { $0 } }

    func set(_ code: Int32) {
        end.withLock { $0 = code }
        group.leave()
    }

    func code() async -> Int32 {
        await withCheckedContinuation { continuation in
            group.notify(queue: .global()) { continuation.resume() }
        }
        return known ?? -1
    }

    func waitForCode() -> Int32 {
        group.wait()
        return known ?? -1
    }
}
