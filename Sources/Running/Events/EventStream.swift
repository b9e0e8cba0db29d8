import Results
import Store
import Synchronization

/// Passes each event to the listeners that want it.
///
/// Publishing never waits. A listener that falls behind by more than its capacity loses its oldest events and is told
/// how many. Events without a listener are dropped.
package final class EventStream: Sendable {
    fileprivate struct Queue {
        let listener: any RunListener
        var events: [DaemonEvent] = []
        var missed = 0
        /// Whether the listener is handling an event.
        var isBusy = false
        /// Whether it ends once its buffer is empty.
        var isClosing = false
        var waiter: CheckedContinuation<Void, Never>?
        var isIdle: Bool { events.isEmpty && missed == 0 && !isBusy }
    }

    private struct State {
        var queues: [Int: Queue] = [:]
        var next = 0
    }

    private enum Delivery {
        case event(DaemonEvent, missedBefore: Int)
        case wait
        case end
    }

    private let state = Mutex(State())
    private let onIdle: @Sendable () -> Void

    /// - Parameter onIdle: Called each time that the last listener has nothing left to do; must not block.
    package init(onIdle: @escaping @Sendable () -> Void = {}) { self.onIdle = onIdle }

    /// Whether every listener has handled all events so far.
    var isIdle: Bool { state.withLock { $0.queues.values.allSatisfy(\.isIdle) } }

    /// Publishes an event; returns at once.
    func publish(_ event: DaemonEvent) {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.queues.keys.compactMap { number in
                guard state.queues[number]?.listener.wants(event) == true else { return nil }
                return state.queues[number]?.add(event)
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Delivers everything that is published while `body` runs to `listeners`.
    ///
    /// - Returns: The result of `body`, once the listeners have handled everything. If the task is cancelled, they end
    ///   after their current event.
    package func deliver<T: Sendable>(
        to listeners: [any RunListener], during body: () async throws -> T
    ) async throws -> T {
        let numbers = listeners.map(add)
        let result = await withTaskGroup(of: Void.self) { group in
            for (number, listener) in zip(numbers, listeners) {
                group.addTask { await self.run(number, listener) }
            }
            let result: Result<T, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            close(numbers)
            await group.waitForAll()
            return result
        }
        return try result.get()
    }

    private func add(_ listener: any RunListener) -> Int {
        state.withLock { state in
            state.next += 1
            state.queues[state.next] = Queue(listener: listener)
            return state.next
        }
    }

    private func close(_ numbers: [Int]) {
        let waiters = state.withLock { state in
            numbers.compactMap { number in
                state.queues[number]?.isClosing = true
                return state.queues[number]?.takeWaiter()
            }
        }
        for waiter in waiters { waiter.resume() }
    }

    private func run(_ number: Int, _ listener: any RunListener) async {
        while !Task.isCancelled {
            switch take(number) {
            case .event(let event, let missed):
                if missed > 0 { await listener.missed(missed) }
                await listener.receive(event)
                finish(number)
            case .wait: await wait(number)
            case .end: return remove(number)
            }
        }
        remove(number)
    }

    private func take(_ number: Int) -> Delivery {
        state.withLock { state in
            guard var queue = state.queues[number] else { return .end }
            guard !queue.events.isEmpty else { return queue.isClosing ? .end : .wait }
            let delivery = Delivery.event(queue.events.removeFirst(), missedBefore: queue.missed)
            (queue.missed, queue.isBusy) = (0, true)
            state.queues[number] = queue
            return delivery
        }
    }

    private func finish(_ number: Int) {
        let isIdle = state.withLock { state in
            state.queues[number]?.isBusy = false
            return state.queues.values.allSatisfy(\.isIdle)
        }
        if isIdle { onIdle() }
    }

    private func wait(_ number: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayWait = state.withLock { state in
                    // Checked under the lock: a later event, end or cancellation finds the waiter.
                    guard !Task.isCancelled, let queue = state.queues[number], queue.events.isEmpty, !queue.isClosing
                    else { return false }
                    state.queues[number]?.waiter = continuation
                    return true
                }
                if !mayWait { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.queues[number]?.takeWaiter() }?.resume()
        }
    }

    private func remove(_ number: Int) {
        let isIdle = state.withLock { state in
            state.queues[number] = nil
            return state.queues.values.allSatisfy(\.isIdle)
        }
        if isIdle { onIdle() }
    }
}

extension EventStream.Queue {
    /// - Returns: The listener's waiter, to be resumed without the lock.
    fileprivate mutating func add(_ event: DaemonEvent) -> CheckedContinuation<Void, Never>? {
        if events.count >= max(listener.capacity, 1) {
            events.removeFirst()
            missed += 1
        }
        events.append(event)
        return takeWaiter()
    }

    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        defer { waiter = nil }
        return waiter
    }
}
