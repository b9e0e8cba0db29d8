/// The bytes of a result file, read in chunks, with the current line's number.
package struct ByteSource {
    private var buffer: [UInt8]
    private var index = 0
    private let pull: () -> [UInt8]

    /// The line of the next byte, from 1.
    package private(set) var line = 1

    /// - Parameter pull: Returns the next chunk; an empty one means the end.
    package init(pull: @escaping () -> [UInt8]) {
        self.pull = pull
        buffer = []
    }

    private mutating func refill() -> Bool {
        buffer = pull()
        index = 0
        return !buffer.isEmpty
    }

    /// The next byte, which is not consumed; nil at the end.
    package mutating func peek() -> UInt8? {
        guard index < buffer.count || refill() else { return nil }
        return buffer[index]
    }

    /// The next byte; nil at the end.
    package mutating func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        index += 1
        if byte == .newline { line += 1 }
        return byte
    }

    /// The bytes before `first` or `second`, as far as the current chunk has them; empty at either byte and at the end.
    package mutating func run(until first: UInt8, _ second: UInt8) -> ArraySlice<UInt8> {
        guard index < buffer.count || refill() else { return [] }
        let start = index
        var lines = 0
        let end = buffer.withUnsafeBufferPointer { bytes in
            var position = start
            while position < bytes.count {
                let byte = bytes[position]
                if byte == first || byte == second { break }
                if byte == .newline { lines += 1 }
                position += 1
            }
            return position
        }
        index = end
        line += lines
        return buffer[start..<end]
    }

    /// The next line without its end: up to `limit` bytes of it, and its whole length; nil at the end.
    package mutating func nextLine(limit: Int) -> (bytes: [UInt8], length: Int)? {
        guard peek() != nil else { return nil }
        var bytes: [UInt8] = []
        var length = 0
        while let byte = peek() {
            if byte == .newline {
                _ = next()
                break
            }
            let run = run(until: .newline, .newline)
            length += run.count
            bytes += run.prefix(limit - bytes.count)
        }
        if bytes.last == .carriageReturn {
            bytes.removeLast()
        }
        return (bytes, length)
    }
}

extension UInt8 {
    /// The byte `\n`.
    package static let newline = UInt8(ascii: "\n")
    /// The byte `\r`.
    package static let carriageReturn = UInt8(ascii: "\r")

    /// Space, tab, line feed, vertical tab, form feed or carriage return.
    package var isXMLSpace: Bool { self == 0x20 || (self >= 0x09 && self <= 0x0D) }
    /// An ASCII digit.
    package var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    /// An ASCII letter.
    package var isLetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }
}
