import Concurrency
import Foundation
import Synchronization
package import SystemCalls

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Why a connection has ended.
package struct ConnectionEnd: Error, Sendable, Equatable, CustomStringConvertible {
    package enum Kind: Sendable { case closed, silent, wrongFrame, failed, ended }
    package var kind: Kind
    /// The predicate of a sentence whose subject is the other side: "closed the connection".
    package var reason: String
    package var description: String { reason }

    package init(_ kind: Kind, _ reason: String) {
        self.kind = kind
        self.reason = reason
    }
}

/// The two ends of a stream, on which many exchanges go on at once.
///
/// One thread reads, and whoever sends writes. The reader never writes and never waits for anything but bytes, so both
/// sides always take what the other one sends, and neither can block the other for good.
package final class MachineConnection: Sendable {
    /// The most exchanges at a time.
    private static let mostExchanges = 512

    private struct State {
        var exchanges: [UInt32: Exchange] = [:]
        var lastNumber: UInt32 = 0
        var end: ConnectionEnd?
        var lastSent = ContinuousClock.now
    }

    private let input: Descriptor
    private let output: Descriptor
    /// How long the other side may say nothing before it counts as lost.
    private let silence: Duration
    private let state = Mutex(State())
    /// Held while a frame is written.
    private let writing = Mutex<Void>(())
    private let onRequest: (@Sendable (Exchange, [UInt8]) -> Void)?
    private let onEnd: @Sendable (ConnectionEnd) -> Void

    /// - Parameters:
    ///   - input: For reading; blocking.
    ///   - output: For writing; blocking.
    ///   - onRequest: Called on the reader's thread when the other side begins an exchange; it must not block. Nil for a
    ///     client.
    ///   - onEnd: Called once when the connection has ended.
    package init(
        input: Descriptor, output: Descriptor, silence: Duration,
        onRequest: (@Sendable (Exchange, [UInt8]) -> Void)? = nil,
        onEnd: @escaping @Sendable (ConnectionEnd) -> Void = { _ in }
    ) {
        self.input = input
        self.output = output
        self.silence = silence
        self.onRequest = onRequest
        self.onEnd = onEnd
    }

    /// Why the connection has ended; nil while it is there.
    package var end: ConnectionEnd? { state.withLock { $0.end } }

    /// Starts the threads that read and that give signs of life. They end with the connection.
    ///
    /// - Parameter parser: Holds what has already arrived.
    /// - Throws: ``ConnectionEnd`` if the system has no thread.
    package func start(_ parser: FrameParser = FrameParser()) throws {
        for code in [startThread { [self] in read(parser) }, startThread { [self] in pulse() }] where code != 0 {
            let end = ConnectionEnd(.failed, "could not be served: \(String(cString: strerror(code)))")
            close(end)
            throw end
        }
    }

    /// Ends the connection for everybody who waits. Later calls change nothing.
    package func close(_ reason: ConnectionEnd) {
        let exchanges: [Exchange]? = state.withLock { state in
            guard state.end == nil else { return nil }
            state.end = reason
            defer { state.exchanges = [:] }
            return Array(state.exchanges.values)
        }
        guard let exchanges else { return }
        // This wakes a thread that waits in a socket; one that waits in a pipe wakes when the carrier is ended.
        for descriptor in [input, output] { _ = descriptor.use { shutdown($0, Int32(SHUT_RDWR)) } }
        for exchange in exchanges { exchange.connectionEnded() }
        onEnd(reason)
    }

    /// Begins an exchange with a request.
    ///
    /// - Parameter patience: How long each wait for the other side may take, asked again and again while it lasts; a
    ///   longer one ends the connection. Nil without a limit.
    /// - Throws: ``ConnectionEnd``.
    package func begin(
        _ request: some Encodable, patience: (@Sendable () -> Duration)? = nil
    ) throws -> Exchange {
        let header = try Wire.bytes(request)
        let exchange = try state.withLock { state in
            if let end = state.end { throw end }
            state.lastNumber += 1
            let exchange = Exchange(number: state.lastNumber, connection: self, patience: patience)
            state.exchanges[state.lastNumber] = exchange
            return exchange
        }
        do {
            try send(Frame(.request, exchange: exchange.number, header: header))
        } catch {
            forget(exchange.number)
            throw error
        }
        return exchange
    }

    func forget(_ number: UInt32) { state.withLock { _ = $0.exchanges.removeValue(forKey: number) } }

    /// Writes one frame; it blocks while the other side is slow.
    ///
    /// - Throws: ``ConnectionEnd``.
    func send(_ frame: Frame) throws {
        guard frame.header.count <= Frame.mostHeader, frame.content.count <= Frame.mostContent else {
            throw FrameProblem.tooLarge(frame.header.count + frame.content.count)
        }
        let bytes = frame.bytes
        if let end { throw end }
        let code = writing.withLock { _ in output.use { QuietWrite.all(bytes, to: $0) } }
        guard code == 0 else {
            close(ConnectionEnd(.closed, "closed the connection"))
            throw end ?? ConnectionEnd(.closed, "closed the connection")
        }
        state.withLock { $0.lastSent = .now }
    }

    private func pulse() {
        while end == nil {
            usleep(250_000)
            let isDue = state.withLock { ContinuousClock.now - $0.lastSent > silence / 4 }
            if isDue { try? send(Frame(.pulse)) }
        }
    }

    private func read(_ parser: FrameParser) {
        var parser = parser
        var piece = [UInt8](repeating: 0, count: 1 << 17)
        var lastHeard = ContinuousClock.now
        do {
            while end == nil {
                while let frame = try parser.next() { try take(frame) }
                let isReady = input.use { Readable.wait($0, atMost: .seconds(1)) }
                guard isReady else {
                    if ContinuousClock.now - lastHeard > silence {
                        throw ConnectionEnd(.silent, "has not answered for \(Int(silence / .seconds(1))) seconds")
                    }
                    continue
                }
                let count = input.use { descriptor in
                    piece.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
                }
                if count < 0, errno == EINTR || errno == EAGAIN { continue }
                guard count > 0 else { throw ConnectionEnd(.closed, "closed the connection") }
                lastHeard = .now
                parser.feed(piece[..<count])
            }
        } catch let problem as FrameProblem {
            close(ConnectionEnd(.wrongFrame, problem.description))
        } catch {
            close(error as? ConnectionEnd ?? ConnectionEnd(.failed, "\(error)"))
        }
    }

    private func take(_ frame: Frame) throws {
        let exchange = state.withLock { $0.exchanges[frame.exchange] }
        switch frame.kind {
        case .pulse: return
        case .hello: throw FrameProblem.outOfTurn("a second greeting")
        case .request:
            guard let onRequest else { throw FrameProblem.outOfTurn("a request") }
            let made: Exchange? = state.withLock { state in
                guard state.exchanges[frame.exchange] == nil, state.exchanges.count < Self.mostExchanges else {
                    return nil
                }
                let made = Exchange(number: frame.exchange, connection: self)
                state.exchanges[frame.exchange] = made
                return made
            }
            guard let made else { throw FrameProblem.outOfTurn("too many requests at once") }
            onRequest(made, frame.header)
        // Frames of an exchange that this side has given up are still on their way.
        case .data: try exchange?.receive(.data(frame.content))
        case .packedData:
            if let exchange { try exchange.receive(.data(try PackedContent.unpack(frame.content))) }
        case .endOfData: try exchange?.receive(.endOfData)
        case .note: try exchange?.receive(.note(frame.header))
        case .reply:
            guard onRequest == nil else { throw FrameProblem.outOfTurn("a reply") }
            try exchange?.receive(.reply(frame.header))
        case .credit:
            guard let count = Int(String(decoding: frame.header, as: UTF8.self)), count > 0, count <= Exchange.window
            else { throw FrameProblem.outOfTurn("a credit that is no number") }
            exchange?.receive(credit: count)
        case .drop: exchange?.receiveDrop()
        }
    }
}

/// Waits until a descriptor can be read.
enum Readable {
    static func wait(_ descriptor: Int32, atMost limit: Duration) -> Bool {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, Int32(clamping: Int(limit / .milliseconds(1)))) > 0
    }
}
