package import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How a connection begins: each side sends a line that names the protocol, and then a greeting.
package enum Handshake {
    /// What both sides send first. A shell's profile may print something before it.
    package static let line = Array("pipectl-agent stream\n".utf8)
    /// The most bytes that may come before the line.
    private static let mostNoise = 1 << 16

    /// Sends `greeting`, and waits for that of the other side. It blocks.
    ///
    /// - Returns: The greeting of the other side, and what arrived after it.
    /// - Throws: ``HandshakeProblem``.
    package static func greet<Greeting: Decodable>(
        _ greeting: some Encodable, input: Descriptor, output: Descriptor, within limit: Duration
    ) throws -> (greeting: Greeting, parser: FrameParser) {
        let end = ContinuousClock.now + limit
        let bytes = line + Frame(.hello, header: try Wire.bytes(greeting)).bytes
        guard output.use({ QuietWrite.all(bytes, to: $0) }) == 0 else { throw HandshakeProblem(.closed, []) }
        var noise: [UInt8] = []
        var parser: FrameParser?
        while true {
            do {
                if let frame = try parser?.next() {
                    guard frame.kind == .hello, let parser else { throw HandshakeProblem(.noGreeting, noise) }
                    guard let greeting = try? Wire.value(Greeting.self, from: frame.header) else {
                        throw HandshakeProblem(.noGreeting, noise)
                    }
                    return (greeting, parser)
                }
            } catch is FrameProblem { throw HandshakeProblem(.noGreeting, noise) }
            let piece = try piece(of: input, until: end, noise)
            if parser != nil {
                parser?.feed(piece)
                continue
            }
            noise += piece
            if let found = place(of: line, in: noise) {
                var made = FrameParser()
                made.feed(noise[(found + line.count)...])
                noise.removeSubrange(found...)
                parser = made
            } else if noise.count > mostNoise {
                throw HandshakeProblem(.noGreeting, noise)
            }
        }
    }

    private static func piece(
        of input: Descriptor, until end: ContinuousClock.Instant, _ noise: [UInt8]
    ) throws -> [UInt8] {
        while true {
            let left = end - .now
            guard left > .zero, input.use({ Readable.wait($0, atMost: left) }) else {
                throw HandshakeProblem(.late, noise)
            }
            var bytes = [UInt8](repeating: 0, count: 1 << 14)
            let count = input.use { descriptor in
                bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw HandshakeProblem(.closed, noise) }
            return Array(bytes[..<count])
        }
    }

    private static func place(of line: [UInt8], in bytes: [UInt8]) -> Int? {
        guard bytes.count >= line.count else { return nil }
        return (0...(bytes.count - line.count)).first { start in
            bytes[start] == line[0] && bytes[start..<(start + line.count)].elementsEqual(line)
        }
    }
}

/// Why no connection with an agent came about.
package struct HandshakeProblem: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable { case closed, late, noGreeting }
    package var kind: Kind
    /// The first line that came instead; nil for none.
    package var line: String?

    init(_ kind: Kind, _ noise: [UInt8]) {
        self.kind = kind
        let first = noise.split(separator: 0x0A).first.map { String(decoding: $0.prefix(200), as: UTF8.self) }
        line = first.map { String($0.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }) }
    }

    package var description: String {
        let said = line.map { ": it said “\($0)”" } ?? ""
        return switch kind {
        case .closed: "ended before the agent answered\(said)"
        case .late: "did not answer in time\(said)"
        case .noGreeting: "did not answer as an agent of pipectl\(said)"
        }
    }
}
