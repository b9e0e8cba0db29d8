import SystemPackage

/// The times at which a log's bytes arrived, stored beside the log.
///
/// The file is a sequence of pairs of LEB128 numbers: the number of bytes since the last mark, and the number of
/// milliseconds since it (the first pair counts from the log's and the attempt's start). Bytes that were read together
/// share a mark, so a line has the time at which its first byte arrived.
public struct LogTimes: Sendable, Equatable {
    private var offsets: [Int] = []
    private var milliseconds: [Int] = []

    /// Reads the file's bytes. Marks that can't be read are left out.
    public init(_ bytes: [UInt8]) {
        var position = 0
        var offset = 0
        var time = 0
        while let bytesLater = LogTimes.number(bytes, &position), let timeLater = LogTimes.number(bytes, &position) {
            (offset, time) = (offset &+ bytesLater, time &+ timeLater)
            offsets.append(offset)
            milliseconds.append(time)
        }
    }

    /// Milliseconds from the attempt's start until the byte at `offset` arrived; nil without marks.
    public func milliseconds(at offset: Int) -> Int? {
        var low = 0
        var high = offsets.count
        while low < high {
            let middle = (low + high) / 2
            if offsets[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low > 0 ? milliseconds[low - 1] : nil
    }

    static func append(_ number: Int, to bytes: inout [UInt8]) {
        var rest = UInt64(max(number, 0))
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    private static func number(_ bytes: [UInt8], _ position: inout Int) -> Int? {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while position < bytes.count, shift < 63 {
            let byte = bytes[position]
            position += 1
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return Int(exactly: value) }
            shift += 7
        }
        return nil
    }
}

/// Writes the times of a log as its bytes arrive, in bounded memory.
struct TimesWriter {
    private struct Mark {
        var offset: Int
        var milliseconds: Int
    }

    /// Maximum number of marks for the tail; beyond it they get coarser.
    static let tailMarks = 1 << 15

    private let path: FilePath
    private var file: FileDescriptor?
    private var pending: [UInt8] = []
    private var last: Mark?
    /// Marks of output that may still fall out of the tail, by their offset in the whole output.
    private var tail: [Mark] = []

    init(path: FilePath) { self.path = path }

    /// Adds a mark for the byte at `offset` of the file. Both numbers must be higher than in the mark before.
    mutating func mark(offset: Int, _ milliseconds: Int) {
        if let last, milliseconds <= last.milliseconds || offset <= last.offset { return }
        LogTimes.append(offset - (last?.offset ?? 0), to: &pending)
        LogTimes.append(milliseconds - (last?.milliseconds ?? 0), to: &pending)
        last = Mark(offset: offset, milliseconds: milliseconds)
        if pending.count >= 1 << 14 { flush() }
    }

    /// Adds a mark for output whose position in the file is not known yet.
    ///
    /// - Parameter keeping: Output before this offset will be dropped.
    mutating func markTail(offset: Int, _ milliseconds: Int, keeping: Int) {
        guard milliseconds > tail.last?.milliseconds ?? last?.milliseconds ?? -1 else { return }
        tail.append(Mark(offset: offset, milliseconds: milliseconds))
        guard tail.count > TimesWriter.tailMarks else { return }
        // The last mark before the retained part is the time of its first byte.
        let first = max((tail.firstIndex { $0.offset > keeping } ?? tail.count) - 1, 0)
        tail.removeFirst(first)
        if tail.count > TimesWriter.tailMarks / 2 {
            tail = tail.enumerated().filter { $0.offset.isMultiple(of: 2) }.map(\.element)
        }
    }

    /// Writes the marks of the tail, whose position in the file is known now.
    mutating func joinTail(from start: Int, movedBy distance: Int) {
        let first = max((tail.firstIndex { $0.offset > start } ?? tail.count) - 1, 0)
        for mark in tail[min(first, tail.count)...] {
            self.mark(offset: max(mark.offset, start) + distance, mark.milliseconds)
        }
        tail = []
    }

    mutating func finish() {
        flush()
        try? file?.close()
        file = nil
    }

    /// Times matter less than the log itself: a mark that can't be written is left out.
    private mutating func flush() {
        guard !pending.isEmpty else { return }
        if file == nil {
            file = try? FileDescriptor.open(
                path, .writeOnly, options: [.create, .truncate, .closeOnExec, .noFollow], permissions: .ownerReadWrite)
        }
        _ = try? file?.writeAll(pending)
        pending.removeAll(keepingCapacity: true)
    }
}
