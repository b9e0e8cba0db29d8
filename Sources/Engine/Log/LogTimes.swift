/// When the bytes of a log came, kept beside it.
///
/// The file is a sequence of pairs of LEB128 numbers: how many bytes after the last mark, how many milliseconds
/// after it (the first pair counts from the log's and the attempt's start). What was read in one piece shares a
/// mark, so a line has the time at which its first byte arrived.
public struct LogTimes: Sendable, Equatable {
    private var offsets: [Int] = []
    private var milliseconds: [Int] = []

    /// Reads the file's bytes; what can't be read is left out.
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

    /// Milliseconds from the attempt's start until the byte at `offset` came; nil without marks.
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
