import Concurrency
import Foundation
import Reports
import Results

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
