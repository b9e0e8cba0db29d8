internal import Foundation
internal import Synchronization

/// Suspends tasks until a descriptor can be read (or written), without a thread each and without polling.
///
/// A wake-up is a hint: whoever wakes tries its system call again and waits again on `EAGAIN`. The kernel is asked only
/// while somebody waits, so bytes that nobody wants yet stay there and cost no CPU.
package final class Readiness: Sendable {
    package enum Direction { case reading, writing }

    private let descriptor: Descriptor
    private let events: Int16
    private let state = Mutex((isClosed: false, waiters: Set<ReadinessThread.Ticket>()))

    package init(_ descriptor: Descriptor, _ direction: Direction) {
        self.descriptor = descriptor
        events = Int16(direction == .reading ? POLLIN : POLLOUT)
    }

    deinit { close() }

    /// Returns when the descriptor may be ready, or the task is cancelled, or this is closed.
    package func wait() async {
        let ticket = ReadinessThread.shared.ticket()
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let refused = state.withLock { state in
                    // Asked under the lock: a cancellation that comes later finds this ticket.
                    if state.isClosed || Task.isCancelled { return true }
                    state.waiters.insert(ticket)
                    ReadinessThread.shared.add(ticket, descriptor, events, continuation)
                    return false
                }
                if refused { continuation.resume() }
            }
        } onCancel: {
            if state.withLock({ $0.waiters.contains(ticket) }) { ReadinessThread.shared.wake([ticket]) }
        }
        state.withLock { _ = $0.waiters.remove(ticket) }
    }

    package func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.waiters
        }
        if !waiters.isEmpty { ReadinessThread.shared.wake(waiters) }
    }
}

/// The one thread that sleeps in `poll(2)` for everybody who waits.
///
/// Event sources of Dispatch would do without a thread of ours, but on Linux they lost wake-ups under load where one
/// descriptor was waited for in both directions (Swift 6.3.1). `poll` is on every system and takes a few microseconds
/// for the hundred descriptors that we have at most.
final class ReadinessThread: Sendable {
    typealias Ticket = UInt64

    static let shared = ReadinessThread()

    private struct Waiter {
        let descriptor: Descriptor
        let events: Int16
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var lastTicket: Ticket = 0
        var waiters: [Ticket: Waiter] = [:]
        var isAsleep = false
    }

    private let state = Mutex(State())
    /// A byte written here ends the thread's sleep. Without descriptors for it, the thread sleeps in short naps.
    private let alarm: (reading: Int32, writing: Int32)?

    private init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 {
            for end in ends {
                _ = fcntl(end, F_SETFD, FD_CLOEXEC)
                _ = fcntl(end, F_SETFL, O_NONBLOCK)
            }
            alarm = (ends[0], ends[1])
        } else {
            alarm = nil
        }
        // It lives as long as the process, so it never holds anybody's end up.
        Thread.detachNewThread { while true { self.turn() } }
    }

    func ticket() -> Ticket {
        state.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    func add(
        _ ticket: Ticket, _ descriptor: Descriptor, _ events: Int16, _ continuation: CheckedContinuation<Void, Never>
    ) {
        let wasAsleep = state.withLock { state in
            state.waiters[ticket] = Waiter(descriptor: descriptor, events: events, continuation: continuation)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if wasAsleep { ring() }
    }

    /// Lets those who hold `tickets` go on, ready or not.
    func wake(_ tickets: some Sequence<Ticket>) {
        let (woken, wasAsleep) = state.withLock { state in
            let woken = tickets.compactMap { state.waiters.removeValue(forKey: $0) }
            defer { if !woken.isEmpty { state.isAsleep = false } }
            return (woken.map(\.continuation), state.isAsleep && !woken.isEmpty)
        }
        // The thread holds the descriptor until it looks again.
        if wasAsleep { ring() }
        for continuation in woken { continuation.resume() }
    }

    private func ring() {
        guard let alarm else { return }
        var byte: UInt8 = 1
        _ = write(alarm.writing, &byte, 1)
    }

    /// Sleeps until somebody's descriptor is ready or the list of waiters has changed.
    private func turn() {
        let waiters = state.withLock { state in
            state.isAsleep = true
            return Array(state.waiters)
        }
        var requests = waiters.map { pollfd(fd: $0.value.descriptor.number, events: $0.value.events, revents: 0) }
        if let alarm { requests.append(pollfd(fd: alarm.reading, events: Int16(POLLIN), revents: 0)) }
        let count = poll(&requests, nfds_t(requests.count), alarm == nil ? 20 : -1)
        if let alarm, count > 0, requests.last?.revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(alarm.reading, &bytes, bytes.count) > 0 {}
        }
        state.withLock { $0.isAsleep = false }
        if count > 0 { wake(zip(waiters, requests).filter { $1.revents != 0 }.map(\.0.key)) }
    }
}
