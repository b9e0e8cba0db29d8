/// One message on the connection with an agent.
///
/// On the wire it is its kind (1 byte), the number of its exchange, the length of its header and the length of its
/// content (4 bytes each, big-endian), the header, which is JSON, and the content, which is any bytes.
package struct Frame: Sendable, Equatable {
    package enum Kind: UInt8, Sendable {
        /// The first frame of each side: what it is.
        case hello = 1
        /// The client begins an exchange with a request.
        case request
        /// Bytes that belong to an exchange.
        case data
        /// The sender of the exchange's data has no more.
        case endOfData
        /// A message within an exchange.
        case note
        /// The server's answer, after which the exchange is over.
        case reply
        /// The receiver of data has taken so many bytes, which the header holds as a number.
        case credit
        /// The client wants no more of the exchange.
        case drop
        /// Nothing but a sign of life.
        case pulse
        /// Like ``data``, compressed; see ``PackedContent``.
        case packedData
    }

    package var kind: Kind
    /// The number that the client gave to the exchange; 0 for frames of the connection itself.
    package var exchange: UInt32
    package var header: [UInt8]
    package var content: [UInt8]

    package init(_ kind: Kind, exchange: UInt32 = 0, header: [UInt8] = [], content: [UInt8] = []) {
        self.kind = kind
        self.exchange = exchange
        self.header = header
        self.content = content
    }

    /// A frame of data, compressed if that makes it clearly shorter.
    static func data(_ content: [UInt8], exchange: UInt32) -> Frame {
        if let packed = PackedContent.pack(content) {
            return Frame(.packedData, exchange: exchange, content: packed)
        }
        return Frame(.data, exchange: exchange, content: content)
    }

    /// The number of bytes before the header.
    static let prefix = 13
    /// The most bytes of a header.
    package static let mostHeader = 8 << 20
    /// The most bytes of a content.
    package static let mostContent = 1 << 18

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Frame.prefix + header.count + content.count)
        bytes.append(kind.rawValue)
        for number in [exchange, UInt32(header.count), UInt32(content.count)] {
            withUnsafeBytes(of: number.bigEndian) { bytes += $0 }
        }
        return bytes + header + content
    }
}

/// Takes frames out of the bytes that arrive.
package struct FrameParser: Sendable {
    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func feed(_ more: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes += more
    }

    /// The next frame; nil if more bytes are needed.
    ///
    /// - Throws: ``FrameProblem``; the connection is of no more use then.
    package mutating func next() throws(FrameProblem) -> Frame? {
        guard bytes.count - start >= Frame.prefix else { return nil }
        func number(_ offset: Int) -> UInt32 {
            bytes[(start + offset)..<(start + offset + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        // The numbers are checked before anything that long is waited for.
        guard let kind = Frame.Kind(rawValue: bytes[start]) else { throw .unknownKind(bytes[start]) }
        let (header, content) = (Int(number(5)), Int(number(9)))
        guard header <= Frame.mostHeader, content <= Frame.mostContent else { throw .tooLarge(header + content) }
        let end = start + Frame.prefix + header + content
        guard bytes.count >= end else { return nil }
        let body = start + Frame.prefix
        let frame = Frame(
            kind, exchange: number(1), header: Array(bytes[body..<(body + header)]),
            content: Array(bytes[(body + header)..<end]))
        start = end
        return frame
    }
}

/// Why the bytes of the other side are no frames.
package enum FrameProblem: Error, Sendable, Equatable, CustomStringConvertible {
    case unknownKind(UInt8)
    case tooLarge(Int)
    /// A frame that does not fit to what was said before.
    case outOfTurn(String)

    package var description: String {
        switch self {
        case .unknownKind(let kind): "sent a message of the unknown kind \(kind)"
        case .tooLarge(let bytes): "sent a message of \(bytes) bytes, which is more than allowed"
        case .outOfTurn(let what): "sent \(what)"
        }
    }
}
