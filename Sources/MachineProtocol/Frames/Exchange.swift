import Foundation
import Synchronization

/// One request to an agent with what belongs to it: data in both directions, notes, and the reply.
///
/// Its calls block. The connection's reader never waits for whoever takes out of an exchange: a sender may only be ahead
/// by ``window`` bytes of data, and a few messages.
package final class Exchange: Sendable {
    /// What arrived for an exchange.
    package enum Event: Sendable {
        case data([UInt8])
        case endOfData
        case note([UInt8])
        case reply([UInt8])
    }

    /// How many bytes of data may be on their way or wait to be taken.
    package static let window = 1 << 20
    /// The most messages that may wait to be taken.
    static let mostMessages = 1_000
    /// The most bytes of notes and of the reply that may wait to be taken.
    static let mostMessageBytes = Frame.mostHeader + window

    package let number: UInt32
    private let connection: MachineConnection
    /// How long a call may wait now for the other side; nil without a limit.
    private let patience: (@Sendable () -> Duration)?

    private struct State {
        var events: [Event] = []
        /// Data that came after these events, in one piece: many small ones would take more room than they have bytes.
        var data: [UInt8] = []
        /// Bytes of notes and of the reply that wait.
        var messageBytes = 0
        /// Bytes that the other side may still send.
        var room = Exchange.window
        /// Bytes that this side may still send.
        var credit = Exchange.window
        var isOver = false
        var isDropped = false
        var noteHandler: (@Sendable ([UInt8]) -> Void)?

        /// Adds what has arrived.
        ///
        /// - Returns: What is wrong if the other side sends more than may wait.
        mutating func add(_ event: Event) -> FrameProblem? {
            switch event {
            case .data(let bytes):
                room -= bytes.count
                guard room >= 0 else { return .outOfTurn("more data than it was asked for") }
                data += bytes
                return nil
            case .reply:
                guard !isOver else { return .outOfTurn("a second reply") }
                isOver = true
            case .note, .endOfData: break
            }
            if !data.isEmpty { events.append(.data(data)) }
            data = []
            events.append(event)
            messageBytes += event.messageBytes
            guard events.count <= Exchange.mostMessages, messageBytes <= Exchange.mostMessageBytes else {
                return .outOfTurn("more messages than may wait")
            }
            return nil
        }

        /// Takes the first event.
        mutating func next() -> Event? {
            if !events.isEmpty {
                let event = events.removeFirst()
                messageBytes -= event.messageBytes
                return event
            }
            guard !data.isEmpty else { return nil }
            defer { data = [] }
            return .data(data)
        }

        /// Takes all notes.
        mutating func takeNotes() -> [[UInt8]] {
            var notes: [[UInt8]] = []
            events.removeAll { event in
                guard case .note(let bytes) = event else { return false }
                notes.append(bytes)
                return true
            }
            messageBytes = events.reduce(0) { $0 + $1.messageBytes }
            return notes
        }
    }

    private let state = Mutex(State())
    private let change = NSCondition()

    init(number: UInt32, connection: MachineConnection, patience: (@Sendable () -> Duration)? = nil) {
        self.number = number
        self.connection = connection
        self.patience = patience
    }

    /// Called for the connection's reader, and never waits.
    func receive(_ event: Event) throws(FrameProblem) {
        var problem: FrameProblem?
        var handler: (@Sendable ([UInt8]) -> Void)?
        update { state in
            if case .note = event, let known = state.noteHandler {
                handler = known
            } else {
                problem = state.add(event)
            }
        }
        if let problem { throw problem }
        if let handler, case .note(let bytes) = event { handler(bytes) }
    }

    func receive(credit: Int) { update { $0.credit = min($0.credit + credit, Exchange.window) } }

    func receiveDrop() { update { $0.isDropped = true } }

    /// Wakes everybody who waits, since the connection has ended.
    func connectionEnded() { update { _ in } }

    private func update(_ body: (inout State) -> Void) {
        change.lock()
        state.withLock { body(&$0) }
        change.broadcast()
        change.unlock()
    }

    /// Waits for what `take` returns. What has arrived is taken even after the connection has ended. If the other side
    /// lives and does not go on with this exchange, it is given up.
    ///
    /// - Throws: ``ConnectionEnd``.
    private func wait<Value: Sendable>(_ take: (inout State) -> Value?) throws -> Value {
        let begin = ContinuousClock.now
        if let value = try wait(since: begin, take) { return value }
        let end = ConnectionEnd(
            .silent, "left a question unanswered for \(Int((ContinuousClock.now - begin) / .seconds(1))) seconds")
        connection.close(end)
        throw connection.end ?? end
    }

    /// - Returns: Nil if that takes longer than ``patience``.
    private func wait<Value: Sendable>(
        since begin: ContinuousClock.Instant, _ take: (inout State) -> Value?
    ) throws -> Value? {
        change.lock()
        defer { change.unlock() }
        while true {
            if let value = state.withLock({ take(&$0) }) { return value }
            if let end = connection.end { throw end }
            if let patience, ContinuousClock.now - begin > patience() { return nil }
            // The limit only guards against a lost wake-up, and lets the patience be looked at.
            _ = change.wait(until: Date(timeIntervalSinceNow: 1))
        }
    }

    /// Waits for the next event.
    ///
    /// - Throws: ``ConnectionEnd`` when the connection has ended and nothing is left.
    package func next() throws -> Event {
        let event = try wait { $0.next() }
        if case .data(let bytes) = event { grant(bytes.count) }
        return event
    }

    private func grant(_ bytes: Int) {
        state.withLock { $0.room += bytes }
        // A connection that has ended needs no credit.
        try? connection.send(Frame(.credit, exchange: number, header: Array(String(bytes).utf8)))
    }

    /// Calls `handler` for each note from now on, and for those that wait, on the connection's thread; it must not block.
    package func onNote(_ handler: @escaping @Sendable ([UInt8]) -> Void) {
        var waiting: [[UInt8]] = []
        update { state in
            state.noteHandler = handler
            waiting = state.takeNotes()
        }
        for note in waiting { handler(note) }
    }

    /// Sends data; waits as long as the receiver is behind by ``window``.
    ///
    /// - Throws: ``ConnectionEnd``, or ``Dropped`` if the other side wants no more, for example because it has replied.
    package func send(_ data: UnsafeRawBufferPointer) throws {
        var rest = data[...]
        while !rest.isEmpty {
            let most = min(rest.count, Frame.mostContent)
            let count: Int = try wait { state in
                // The other side reads no further once it has replied.
                if state.isDropped || state.isOver { return 0 }
                guard state.credit > 0 else { return nil }
                let count = min(most, state.credit)
                state.credit -= count
                return count
            }
            guard count > 0 else { throw Dropped() }
            try connection.send(.data(Array(rest.prefix(count)), exchange: number))
            rest = rest.dropFirst(count)
        }
    }

    package func send(_ data: [UInt8]) throws { try data.withUnsafeBytes { try send($0) } }

    /// Whether nothing can be sent any more.
    package var isOver: Bool { connection.end != nil || state.withLock { $0.isDropped || $0.isOver } }

    package func endData() throws { try connection.send(Frame(.endOfData, exchange: number)) }

    package func note(_ value: some Encodable) throws {
        try connection.send(Frame(.note, exchange: number, header: try Wire.bytes(value)))
    }

    /// Ends the exchange on the server's side.
    package func reply(_ value: some Encodable) throws {
        defer { connection.forget(number) }
        try connection.send(Frame(.reply, exchange: number, header: try Wire.bytes(value)))
    }

    /// Ends the exchange on the client's side, whether the reply has come or not.
    package func finish() {
        if !state.withLock({ $0.isOver }) { try? connection.send(Frame(.drop, exchange: number)) }
        connection.forget(number)
    }

    /// The other side wants no more data of this exchange.
    package struct Dropped: Error {}
}

extension Exchange.Event {
    /// The bytes that no window bounds.
    fileprivate var messageBytes: Int {
        switch self {
        case .note(let bytes), .reply(let bytes): bytes.count
        case .data, .endOfData: 0
        }
    }
}
