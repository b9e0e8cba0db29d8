import Concurrency
import Control
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
        if let output = host.output(path) { return .output(LiveLog(source: self, output: output)) }
        if let file = try await offThread({ OpenedFile(path) }) { return .output(file) }
        // The run may have ended since this place was found.
        return try? await archived().map(LogContent.bytes)
    }

    /// The log in the archive; nil before the run has ended.
    fileprivate func archived() async throws -> [UInt8]? {
        try await host.run(run).summary.state == .ended ? try await host.log(run, file).bytes : nil
    }
}

/// The output of a running step. Its file goes to the archive when the run ends, which may be while it is read here.
private final class LiveLog: LogOutput {
    private let source: LogSource
    private let output: any LogOutput
    private let spooled = Mutex<OpenedFile?>(nil)

    init(source: LogSource, output: any LogOutput) { (self.source, self.output) = (source, output) }

    var extent: (bytes: Int, isOver: Bool) { output.extent }

    func wait(beyond bytes: Int) async { await output.wait(beyond: bytes) }

    func read(from offset: Int, atMost count: Int) async throws -> (start: Int, bytes: [UInt8]) {
        if let spooled = spooled.withLock({ $0 }) { return try await spooled.read(from: offset, atMost: count) }
        do { return try await output.read(from: offset, atMost: count) } catch let problem {
            // In a log that leaves something out, the offsets are others.
            guard let log = try await source.archived(), log.count == extent.bytes else { throw problem }
            // The archive gives it as a whole, and a slow reader asks often.
            let opened = try await OpenedFile(spooling: log)
            spooled.withLock { $0 = opened }
            return try await opened.read(from: offset, atMost: count)
        }
    }
}

/// A file that is written no more, such as the log of an attempt that has ended. It can be read until this value is gone,
/// whatever becomes of its name.
struct OpenedFile: LogOutput {
    private let handle: FileHandle
    let extent: (bytes: Int, isOver: Bool)

    /// Nil if there is no such file. It blocks.
    init?(_ path: String) {
        guard let handle = FileHandle(forReadingAtPath: path), let size = try? handle.seekToEnd() else { return nil }
        (self.handle, extent) = (handle, (Int(size), true))
    }

    /// A file without a name that has these bytes.
    ///
    /// - Throws: ``PageProblem``.
    init(spooling bytes: [UInt8]) async throws {
        let opened = try await offThread { () throws -> OpenedFile? in
            let path = NSTemporaryDirectory() + "/pipectl-log-\(UUID().uuidString)"
            // Nobody else may read it while it has a name.
            let isThere = FileManager.default.createFile(
                atPath: path, contents: Data(bytes), attributes: [.posixPermissions: 0o600])
            defer { try? FileManager.default.removeItem(atPath: path) }
            return isThere ? OpenedFile(path) : nil
        }
        guard let opened else {
            throw PageProblem(.broken, "the log can't be kept in \(NSTemporaryDirectory()) while it is sent")
        }
        self = opened
    }

    func wait(beyond bytes: Int) async {}

    func read(from offset: Int, atMost count: Int) async throws -> (start: Int, bytes: [UInt8]) {
        try await offThread { [handle] () throws -> (start: Int, bytes: [UInt8]) in
            try handle.seek(toOffset: UInt64(offset))
            return (offset, [UInt8](try handle.read(upToCount: count) ?? Data()))
        }
    }
}

/// The bytes of a log, which are read in pieces.
enum LogContent: Sendable {
    case output(any LogOutput)
    /// The archive gives a log as a whole.
    case bytes([UInt8])

    /// The most bytes that are read at a time.
    static let mostBytes = 1 << 20

    var size: Int {
        switch self {
        case .output(let output): output.extent.bytes
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
        }
    }
}
