package import Concurrency
package import Pipeline

extension SlotPool {
    /// Waits until a ticket is granted; false if the waiter was stopped first, which holds nothing then.
    package func acquire(_ ticket: Int, _ uses: [ResourceUse], _ stop: StopSignal) async -> Bool {
        let handler = stop.onStop { _ in self.giveUp(ticket) }
        defer { stop.removeHandler(handler) }
        let isGranted = await withTaskCancellationHandler {
            await wait(ticket)
        } onCancel: {
            giveUp(ticket)
        }
        // The slot was granted at the moment of the stop, so it is released.
        if isGranted && (stop.request != nil || Task.isCancelled) {
            release(uses)
            return false
        }
        return isGranted
    }

    /// Waits until a ticket is granted or `hold` returns something else to run at, whichever comes first.
    ///
    /// - Parameters:
    ///   - hold: It ends soon after its task was cancelled. It is not called if the ticket is granted already.
    ///   - leave: Gives back what `hold` returned and nobody wants.
    /// - Returns: What `hold` returned; nil if the ticket was granted. Nil and false if the waiter was stopped.
    package func acquire<Other: Sendable>(
        _ ticket: Int, _ uses: [ResourceUse], _ stop: StopSignal, or hold: @escaping @Sendable () async -> Other?,
        leave: @Sendable (Other) async -> Void
    ) async -> (isGranted: Bool, other: Other?) {
        await withTaskGroup(of: Found<Other>.self) { group in
            group.addTask { .slot(await self.acquire(ticket, uses, stop)) }
            if !isGranted(ticket) { group.addTask { .other(await hold()) } }
            var (hasSlot, other): (Bool, Other?) = (false, nil)
            while let found = await group.next() {
                switch found {
                case .slot(let isGranted):
                    hasSlot = isGranted
                    group.cancelAll()
                case .other(let held):
                    other = held
                    if held != nil { giveUp(ticket) }
                }
            }
            // The slot is nearer if both came.
            if let held = other, hasSlot || stop.request != nil {
                await leave(held)
                return (hasSlot, nil)
            }
            return (hasSlot, other)
        }
    }
}

private enum Found<Other: Sendable>: Sendable {
    case slot(Bool)
    case other(Other?)
}
