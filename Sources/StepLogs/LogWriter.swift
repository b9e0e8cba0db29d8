import Results
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How much of a step's output is stored: its start and its end.
public struct LogLimits: Sendable, Equatable {
    /// Bytes stored from the start.
    public var head: Int
    /// Bytes stored from the end.
    public var tail: Int

    public init(head: Int = 16 << 20, tail: Int = 16 << 20) {
        self.head = head
        self.tail = tail
    }
}

/// Where the parts of an output are while it is written, and afterwards.
struct LogLayout {
    /// Bytes of output so far.
    var bytes: Int
    /// The first bytes are at the start of the file.
    var head: Int
    /// The size of the ring with what came after them.
    var tail: Int
    /// The size of the file that the ring was appended to; nil before that.
    var fileEnd: Int?

    /// The first byte after the head that there still is.
    var oldest: Int { max(head, bytes - tail) }
}

/// Writes the output of one attempt to its file, in bounded space, and the times beside it.
///
/// The file is created with the first byte and holds the output unchanged. After the head, output goes to a ring buffer
/// in a second file, so memory stays small; ``finish()`` joins the two with a line that says how much is missing. A
/// full disk does not stop the step: after the first failed write all output is dropped, so the file is an exact prefix
/// of the output, and ``problem`` holds the error.
struct LogWriter {
    let folder: FilePath
    let name: String
    let limits: LogLimits

    /// Bytes received.
    private(set) var bytes = 0
    /// Why a write failed; the log may be incomplete then.
    private(set) var problem: Errno?

    private var file: FileDescriptor?
    private var ring: FileDescriptor?
    /// Bytes written to ``file``.
    private var written = 0
    /// Bytes received after the head.
    private var ringBytes = 0
    private var times: TimesWriter
    private var isFinished = false

    init(folder: FilePath, name: String, limits: LogLimits) {
        self.folder = folder
        self.name = name
        self.limits = limits
        times = TimesWriter(path: folder.appending(name + ".times"))
    }

    /// Appends output that was read `milliseconds` after the attempt's start.
    mutating func append(_ buffer: UnsafeRawBufferPointer, at milliseconds: Int) {
        guard !buffer.isEmpty else { return }
        let headRoom = min(max(limits.head - bytes, 0), buffer.count)
        if problem == nil {
            if headRoom > 0 {
                times.mark(offset: bytes, milliseconds)
            } else {
                times.markTail(offset: bytes, milliseconds, keeping: bytes + buffer.count - limits.tail)
            }
        }
        bytes += buffer.count
        if headRoom > 0 { write(UnsafeRawBufferPointer(rebasing: buffer[..<headRoom])) }
        if headRoom < buffer.count { keepTail(UnsafeRawBufferPointer(rebasing: buffer[headRoom...])) }
    }

    mutating func append(_ text: String, at milliseconds: Int) {
        Array(text.utf8).withUnsafeBytes { append($0, at: milliseconds) }
    }

    /// Closes the files. Returns nil if there was no output.
    mutating func finish() -> LogRecord? {
        let kept = written + (ringBytes > 0 ? joinTail() : 0)
        if let ring {
            try? ring.close()
            _ = ringPath.withPlatformString { unlink($0) }
        }
        if let file {
            try? file.close()
            times.finish()
        }
        (file, ring) = (nil, nil)
        isFinished = true
        return bytes == 0 ? nil : LogRecord(file: name, bytes: bytes, droppedBytes: bytes - kept)
    }

    var layout: LogLayout {
        LogLayout(bytes: bytes, head: limits.head, tail: max(limits.tail, 1), fileEnd: isFinished ? written : nil)
    }

    private var ringPath: FilePath { folder.appending(name + ".tail") }

    private mutating func open(_ path: FilePath) -> FileDescriptor? {
        do {
            return try FileDescriptor.open(
                path, .readWrite, options: [.create, .truncate, .closeOnExec, .noFollow],
                permissions: .ownerReadWrite)
        } catch {
            problem = problem ?? (error as? Errno) ?? .ioError
            return nil
        }
    }

    private mutating func write(_ buffer: UnsafeRawBufferPointer) {
        guard problem == nil else { return }
        if file == nil { file = open(folder.appending(name)) }
        guard let file else { return }
        var rest = buffer
        while !rest.isEmpty {
            do {
                // One call at a time, so that the number of bytes that a full disk still took is known.
                let count = try file.write(rest)
                written += count
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } catch {
                problem = (error as? Errno) ?? .ioError
                return
            }
        }
    }

    private mutating func keepTail(_ buffer: UnsafeRawBufferPointer) {
        guard problem == nil, limits.tail > 0 else {
            ringBytes += buffer.count
            return
        }
        if ring == nil { ring = open(ringPath) }
        guard let ring else { return }
        // Only the last `tail` bytes of a large piece can remain.
        var rest = UnsafeRawBufferPointer(rebasing: buffer.suffix(limits.tail))
        ringBytes += buffer.count - rest.count
        while !rest.isEmpty {
            let position = ringBytes % limits.tail
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(limits.tail - position))
            do {
                _ = try ring.writeAll(toAbsoluteOffset: Int64(position), piece)
            } catch {
                problem = (error as? Errno) ?? .ioError
                return
            }
            ringBytes += piece.count
            rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
        }
    }

    /// Appends the ring to the file and returns the number of bytes of output in it.
    private mutating func joinTail() -> Int {
        // After a failed write the ring may have a hole, or old bytes in its middle.
        guard problem == nil else { return 0 }
        let wanted = min(ringBytes, limits.tail)
        let dropped = ringBytes - wanted
        if dropped > 0 {
            let note =
                "\n[pipectl: \(Figures.grouped(dropped)) bytes dropped here; the first \(Figures.grouped(limits.head)) and the last \(Figures.grouped(wanted)) are kept]\n"
            Array(note.utf8).withUnsafeBytes { write($0) }
        }
        times.joinTail(from: bytes - wanted, movedBy: written - (bytes - wanted))
        let start = written
        var position = ringBytes - wanted
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while position < ringBytes, let ring, problem == nil {
            let place = position % limits.tail
            let size = min(piece.count, limits.tail - place, ringBytes - position)
            do {
                let count = try piece.withUnsafeMutableBytes { buffer in
                    try ring.read(fromAbsoluteOffset: Int64(place), into: .init(rebasing: buffer[..<size]))
                }
                guard count > 0 else { throw Errno.ioError }
                piece.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                position += count
            } catch {
                problem = (error as? Errno) ?? .ioError
            }
        }
        return written - start
    }
}
