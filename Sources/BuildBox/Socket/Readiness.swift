internal import Dispatch
internal import Foundation
internal import Synchronization

/// An open file descriptor, closed when nobody holds it any more.
///
/// Event sources hold it too, so its number is never handed out again while the kernel still watches it.
final class Descriptor: Sendable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { _ = close(number) }
}

/// Suspends tasks until a descriptor can be read (or written), without a thread each and without polling.
///
/// A wake-up is a hint: whoever wakes tries its system call again and waits again on `EAGAIN`. The source is switched
/// on only while somebody waits, so bytes that nobody wants yet stay in the kernel and cost no CPU.
final class Readiness: Sendable {
    enum Direction { case reading, writing }

    private enum Source {
        case reading(any DispatchSourceRead)
        case writing(any DispatchSourceWrite)

        var source: any DispatchSourceProtocol {
            switch self {
            case .reading(let source): source
            case .writing(let source): source
            }
        }
    }

    private struct State {
        let kind: Source
        var source: any DispatchSourceProtocol { kind.source }
        var waiters: [CheckedContinuation<Void, Never>] = []
        var isClosed = false

        /// Takes everyone who waits, and switches the source off.
        mutating func takeWaiters() -> [CheckedContinuation<Void, Never>] {
            guard !waiters.isEmpty else { return [] }
            if !isClosed { source.suspend() }
            defer { waiters = [] }
            return waiters
        }
    }

    private static let queue = DispatchQueue(label: "pipectl.readiness")
    private let state: Mutex<State>

    init(_ descriptor: Descriptor, _ direction: Direction) {
        let (number, queue) = (descriptor.number, Readiness.queue)
        state =
            switch direction {
            case .reading:
                Mutex(State(kind: .reading(DispatchSource.makeReadSource(fileDescriptor: number, queue: queue))))
            case .writing:
                Mutex(State(kind: .writing(DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue))))
            }
        state.withLock { state in
            state.source.setEventHandler { [weak self] in self?.wake() }
            // Dispatch wants the descriptor open until the source is cancelled, and lets go of its handlers then.
            state.source.setCancelHandler { withExtendedLifetime(descriptor) {} }
        }
    }

    deinit { close() }

    /// Returns when the descriptor may be ready, or the task is cancelled, or this is closed.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let refused = state.withLock { state in
                    // Asked under the lock: a cancellation that comes later finds this waiter in the list.
                    if state.isClosed || Task.isCancelled { return true }
                    if state.waiters.isEmpty { state.source.resume() }
                    state.waiters.append(continuation)
                    return false
                }
                if refused { continuation.resume() }
            }
        } onCancel: {
            wake()
        }
    }

    func close() {
        let waiters = state.withLock { state in
            if state.isClosed { return [CheckedContinuation<Void, Never>]() }
            let waiters = state.takeWaiters()
            state.isClosed = true
            // A source that is suspended, or was never started, must not be released: Dispatch would trap.
            state.source.resume()
            state.source.cancel()
            return waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    private func wake() {
        for waiter in state.withLock({ $0.takeWaiters() }) { waiter.resume() }
    }
}
