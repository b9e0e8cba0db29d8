import Synchronization
import SystemPackage

/// The logs that are being written, for those who follow them. Nobody who follows one delays the step that writes it.
package final class LiveOutputs: Sendable {
    private let logs = Mutex<[String: AttemptLog]>([:])

    package init() {}

    package func begin(_ log: AttemptLog) { logs.withLock { $0[log.path.string] = log } }

    package func end(_ log: AttemptLog) {
        logs.withLock { logs in
            if logs[log.path.string] === log { logs[log.path.string] = nil }
        }
    }

    /// The log that is being written to the file at `path`; nil where nobody writes it (any more).
    package func output(at path: String) -> LiveOutput? { logs.withLock { $0[path] }.map(LiveOutput.init) }
}

/// The masked output of an attempt. It may be read until the log's file is removed, also after the attempt's end.
package struct LiveOutput: Sendable {
    fileprivate let log: AttemptLog

    /// How much there is, and whether there will be no more.
    package var extent: (bytes: Int, isOver: Bool) { log.extent }

    /// Returns when there are more than `bytes` bytes, when there will be no more, or when the task is cancelled.
    package func wait(beyond bytes: Int) async { await log.wait(beyond: bytes) }

    /// Reads output, on a thread that may block.
    ///
    /// - Returns: At most `count` bytes, and the offset of the first of them in the whole output: it is higher than
    ///   `offset` where the log no longer has those bytes.
    /// - Throws: `Errno`.
    package func read(from offset: Int, atMost count: Int) throws -> (start: Int, bytes: [UInt8]) {
        try log.read(from: offset, atMost: count)
    }
}

extension AttemptLog {
    /// Reads output that was written before, while more is written.
    func read(from offset: Int, atMost count: Int) throws -> (start: Int, bytes: [UInt8]) {
        let layout = layout
        do { return try read(from: offset, atMost: count, layout) } catch let problem {
            // The attempt has ended meanwhile, and the end of its output is in the other file now.
            guard layout.fileEnd == nil, self.layout.fileEnd != nil else { throw problem }
            return try read(from: offset, atMost: count, self.layout)
        }
    }

    private func read(
        from offset: Int, atMost count: Int, _ layout: LogLayout
    ) throws -> (start: Int, bytes: [UInt8]) {
        let end = layout.bytes
        guard offset < end, count > 0 else { return (max(offset, 0), []) }
        if offset < layout.head {
            let size = min(count, layout.head - offset, end - offset)
            var bytes = try Self.bytes(of: path, at: offset, size)
            if offset + bytes.count == layout.head, bytes.count < count, layout.head < end {
                let (start, more) = try read(from: layout.head, atMost: count - bytes.count)
                if start == layout.head { bytes += more }
            }
            return (offset, bytes)
        }
        if let end = layout.fileEnd {
            // The ring was appended to the file, behind a line that says how much is missing.
            let start = max(offset, layout.oldest)
            return (start, try Self.bytes(of: path, at: end - (layout.bytes - start), min(count, layout.bytes - start)))
        }
        let start = max(offset, layout.oldest)
        var bytes: [UInt8] = []
        while bytes.count < min(count, end - start) {
            let place = (start - layout.head + bytes.count) % layout.tail
            let size = min(count - bytes.count, end - start - bytes.count, layout.tail - place)
            let piece = try Self.bytes(of: FilePath(path.string + ".tail"), at: place, size)
            if piece.isEmpty { break }
            bytes += piece
        }
        // What was overwritten meanwhile is not what it was.
        let lost = max(self.layout.oldest - start, 0)
        return (start + lost, Array(bytes.dropFirst(lost)))
    }

    private static func bytes(of path: FilePath, at offset: Int, _ count: Int) throws -> [UInt8] {
        let file = try FileDescriptor.open(path, .readOnly, options: [.closeOnExec, .noFollow])
        defer { try? file.close() }
        return try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = try file.read(
                fromAbsoluteOffset: Int64(max(offset, 0)), into: UnsafeMutableRawBufferPointer(buffer))
        }
    }
}
