import Concurrency
import Foundation
import Reports
import Results
import Synchronization

/// The log of one attempt: output that grows while the step runs, a file until the run has ended, later a file of the
/// archive.
struct LogSource: Sendable {
    let run: RunID
    /// The step's name.
    let name: String
    /// The step's place in the plan, from 1.
    let step: Int
    let attempt: Int
    /// The name of the log.
    let file: String
    /// The folder with the logs of a live run; nil once the run has ended.
    let folder: String?
    /// How the step ended; nil while it has not.
    let status: StepStatus?
    let host: PagesHost

    /// Whether there may be more of it.
    var isLive: Bool { folder != nil && status == nil }

    /// The same for all who follow this log.
    var key: String { "\(run)/\(file)" }

    /// Where its bytes are now; nil where there are none yet.
    func content() async throws -> LogContent? {
        guard let folder else { return .bytes(try await host.log(run, file).bytes) }
        let path = "\(folder)/\(file)"
        if let output = host.output(path) { return .output(output) }
        let size = try? await offThread { try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int }
        return size.map { .file(path: path, size: $0) }
    }
}

/// The bytes of a log, which are read in pieces.
enum LogContent: Sendable {
    case output(any LogOutput)
    /// A log that nobody writes any more.
    case file(path: String, size: Int)
    /// The archive gives a log as a whole.
    case bytes([UInt8])

    /// The most bytes that are read at a time.
    static let mostBytes = 1 << 20

    var size: Int {
        switch self {
        case .output(let output): output.extent.bytes
        case .file(_, let size): size
        case .bytes(let bytes): bytes.count
        }
    }

    /// At most ``mostBytes`` bytes, and the offset of the first of them: see ``LogOutput/read(from:atMost:)``.
    func read(from offset: Int, atMost wanted: Int = LogContent.mostBytes) async throws -> (start: Int, bytes: [UInt8])
    {
        let count = min(max(wanted, 0), Self.mostBytes)
        switch self {
        case .output(let output): return try await output.read(from: offset, atMost: count)
        case .bytes(let bytes): return (offset, Array(bytes.dropFirst(offset).prefix(count)))
        case .file(let path, _):
            return try await offThread { () throws -> (start: Int, bytes: [UInt8]) in
                guard let handle = FileHandle(forReadingAtPath: path) else { return (offset, []) }
                defer { try? handle.close() }
                try handle.seek(toOffset: UInt64(offset))
                return (offset, [UInt8](try handle.read(upToCount: count) ?? Data()))
            }
        }
    }
}

/// Lets few have a whole log in memory at the same time; the others wait in order.
final class LogGate: Sendable {
    private struct State {
        var free: Int
        var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
        var next = 0
    }

    private let state: Mutex<State>

    init(most: Int) { state = Mutex(State(free: most)) }

    /// - Throws: What `body` throws, and `CancellationError` if the task was cancelled before its turn.
    func pass<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        guard await enter() else { throw CancellationError() }
        defer { leave() }
        return try await body()
    }

    private func enter() async -> Bool {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    guard state.free == 0 else {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((number, continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: false)
        }
    }

    private func leave() {
        let next = state.withLock { state in
            if !state.waiting.isEmpty { return Optional(state.waiting.removeFirst()) }
            state.free += 1
            return nil
        }
        next?.continuation.resume(returning: true)
    }
}
