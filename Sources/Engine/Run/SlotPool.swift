public import Pipeline

/// The box's slots and named resources, shared by the steps of all runs.
///
/// Whoever asked first is served first, except that a waiter for a taken resource does not hold up those
/// who don't want it.
public actor SlotPool {
    private struct Waiter {
        var number: Int
        var uses: [ResourceUse]
        var continuation: CheckedContinuation<Bool, Never>
    }

    /// How many steps may run at a time.
    public let slots: Int
    private var freeSlots: Int
    /// Units in use by resource name; the capacity comes with each use, from the workflow or ``overrides``.
    private var used: [String: Int] = [:]
    private let overrides: [String: Int]
    private var waiters: [Waiter] = []
    private var nextNumber = 0

    /// - Parameters:
    ///   - slots: How many steps may run at a time, at least 1.
    ///   - capacities: The box's own word on resources, over what workflows declare.
    public init(slots: Int, capacities: [String: Int] = [:]) {
        self.slots = max(slots, 1)
        freeSlots = max(slots, 1)
        overrides = capacities
    }

    /// What stands between `uses` and its start now, as a sentence; nil when it could start.
    public func obstacle(to uses: [ResourceUse]) -> String? {
        if freeSlots == 0 { return "all \(slots) slots are busy" }
        for use in uses where !fits(use) { return "waiting for \"\(use.resource.name)\"" }
        return nil
    }

    /// Waits for a slot and all of `uses`, taken together.
    ///
    /// - Returns: False when the waiting task was cancelled; then nothing is held.
    public func acquire(_ uses: [ResourceUse]) async -> Bool {
        if waiters.isEmpty && freeSlots > 0 && uses.allSatisfy(fits) {
            take(uses)
            return true
        }
        nextNumber += 1
        let number = nextNumber
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled {
                    continuation.resume(returning: false)
                } else {
                    waiters.append(Waiter(number: number, uses: uses, continuation: continuation))
                    serve()
                }
            }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
    }

    /// Gives back what ``acquire(_:)`` took.
    public func release(_ uses: [ResourceUse]) {
        freeSlots += 1
        for use in uses { used[use.resource.name, default: 0] -= use.units }
        serve()
    }

    private func giveUp(_ number: Int) {
        guard let index = waiters.firstIndex(where: { $0.number == number }) else { return }
        waiters.remove(at: index).continuation.resume(returning: false)
        serve()
    }

    private func capacity(of use: ResourceUse) -> Int { overrides[use.resource.name] ?? use.resource.capacity }

    private func fits(_ use: ResourceUse) -> Bool {
        used[use.resource.name, default: 0] + use.units <= capacity(of: use)
    }

    private func take(_ uses: [ResourceUse]) {
        freeSlots -= 1
        for use in uses { used[use.resource.name, default: 0] += use.units }
    }

    private func serve() {
        var wantedBefore: Set<String> = []
        var index = 0
        while index < waiters.count && freeSlots > 0 {
            let uses = waiters[index].uses
            if uses.allSatisfy({ fits($0) && !wantedBefore.contains($0.resource.name) }) {
                take(uses)
                waiters.remove(at: index).continuation.resume(returning: true)
            } else {
                wantedBefore.formUnion(uses.map(\.resource.name))
                index += 1
            }
        }
    }
}
