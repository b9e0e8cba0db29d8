import SystemPackage

/// How much of a step's output is kept: its start and its end.
public struct LogLimits: Sendable, Equatable {
    /// Bytes kept from the start.
    public var head: Int
    /// Bytes kept from the end.
    public var tail: Int

    public init(head: Int = 16 << 20, tail: Int = 16 << 20) {
        self.head = head
        self.tail = tail
    }
}

/// Writes one attempt's output to its file, in bounded space, and the times beside it.
///
/// The file appears with the first byte and holds the bytes as they came. Beyond the head, output goes to a ring
/// in a second file, so memory stays small; ``finish()`` joins the two with a line that says how much is missing.
/// A full disk does not stop the step: what can't be written is counted as dropped and ``problem`` says so.
struct LogWriter {
    let folder: FilePath
    let name: String
    let limits: LogLimits

    /// Bytes that came.
    private(set) var bytes = 0
    /// Why something could not be written; the run can't be trusted to be complete.
    private(set) var problem: Errno?

    private var file: FileDescriptor?
    private var ring: FileDescriptor?
    private var written = 0
    private var ringBytes = 0
    private var lostBytes = 0
    private var marks: [UInt8] = []
    private var lastMark = (offset: 0, milliseconds: 0)

    init(folder: FilePath, name: String, limits: LogLimits) {
        self.folder = folder
        self.name = name
        self.limits = limits
    }

    /// Adds what was read at `milliseconds` after the attempt's start.
    mutating func append(_ buffer: UnsafeRawBufferPointer, at milliseconds: Int) {
        bytes += buffer.count
        let headRoom = limits.head - written
        if headRoom > 0 {
            mark(offset: written, milliseconds)
            write(UnsafeRawBufferPointer(rebasing: buffer.prefix(headRoom)))
        }
        if buffer.count > headRoom { keepTail(UnsafeRawBufferPointer(rebasing: buffer.dropFirst(max(headRoom, 0)))) }
    }

    mutating func append(_ text: String, at milliseconds: Int) {
        Array(text.utf8).withUnsafeBytes { append($0, at: milliseconds) }
    }

    /// Closes the files; nil when nothing was ever written.
    mutating func finish() -> LogRecord? {
        var dropped = lostBytes
        if let ring {
            let kept = min(ringBytes, limits.tail)
            dropped += ringBytes - kept
            if dropped > 0 {
                let note =
                    "\n[pipectl: \(grouped(dropped)) bytes dropped here; the first \(grouped(limits.head)) and the last \(grouped(kept)) are kept]\n"
                Array(note.utf8).withUnsafeBytes { write($0) }
            }
            copyRing(ring, kept)
            try? ring.close()
            _ = ringPath.withPlatformString { unlink($0) == 0 }
        }
        guard let file else { return bytes == 0 ? nil : LogRecord(file: name, bytes: bytes, droppedBytes: bytes) }
        try? file.close()
        if !marks.isEmpty, let times = open(folder.appending(name + ".times")) {
            _ = try? times.writeAll(marks)
            try? times.close()
        }
        self.file = nil
        return LogRecord(file: name, bytes: bytes, droppedBytes: dropped)
    }

    private var ringPath: FilePath { folder.appending(name + ".tail") }

    private mutating func mark(offset: Int, _ milliseconds: Int) {
        guard marks.isEmpty || milliseconds > lastMark.milliseconds else { return }
        LogTimes.append(offset - lastMark.offset, to: &marks)
        LogTimes.append(milliseconds - lastMark.milliseconds, to: &marks)
        lastMark = (offset, milliseconds)
    }

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
        if file == nil { file = open(folder.appending(name)) }
        guard let file else {
            lostBytes += buffer.count
            return
        }
        do {
            written += try file.writeAll(buffer)
        } catch {
            // A partly written buffer may have grown the file; its end is where the next byte belongs.
            problem = problem ?? (error as? Errno) ?? .ioError
            lostBytes += buffer.count
        }
    }

    private mutating func keepTail(_ buffer: UnsafeRawBufferPointer) {
        guard limits.tail > 0, ring != nil || problem == nil else {
            lostBytes += buffer.count
            return
        }
        if ring == nil { ring = open(ringPath) }
        guard let ring else {
            lostBytes += buffer.count
            return
        }
        // Only the last `tail` bytes of a large piece can survive it.
        var rest = UnsafeRawBufferPointer(rebasing: buffer.suffix(limits.tail))
        ringBytes += buffer.count - rest.count
        while !rest.isEmpty {
            let position = ringBytes % limits.tail
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(limits.tail - position))
            do {
                _ = try ring.writeAll(toAbsoluteOffset: Int64(position), piece)
            } catch {
                problem = problem ?? (error as? Errno) ?? .ioError
            }
            ringBytes += piece.count
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(piece.count))
        }
    }

    private mutating func copyRing(_ ring: FileDescriptor, _ kept: Int) {
        var position = ringBytes - kept
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while position < ringBytes {
            let place = position % limits.tail
            let wanted = min(piece.count, limits.tail - place, ringBytes - position)
            let count = piece.withUnsafeMutableBytes { buffer in
                (try? ring.read(fromAbsoluteOffset: Int64(place), into: .init(rebasing: buffer.prefix(wanted)))) ?? 0
            }
            guard count > 0 else { return }
            piece.withUnsafeBytes { write(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            position += count
        }
    }
}

/// A count with thousands separators, in the C locale's digits.
func grouped(_ number: Int) -> String {
    var text = ""
    for (index, digit) in String(number).reversed().enumerated() {
        if index > 0 && index % 3 == 0 && digit != "-" { text.append(",") }
        text.append(digit)
    }
    return String(text.reversed())
}

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif
