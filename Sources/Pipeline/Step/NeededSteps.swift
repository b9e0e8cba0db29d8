import Synchronization

/// The steps that one step needs, shared by all copies of that step.
///
/// Copies that modifiers make share it, so it also tells whether two values come from one `Step(…)`.
final class NeededSteps: Sendable {
    private let storage: Mutex<[Step]>

    init(_ steps: [Step]) { storage = Mutex(steps) }

    var steps: [Step] { storage.withLock { $0 } }

    /// Frees a long chain of steps one by one: left to itself, each release would be nested in the one before, and some
    /// thousand of them overflow the stack of a thread.
    deinit {
        var pending = take()
        while var step = pending.popLast() {
            guard isKnownUniquelyReferenced(&step.needed) else { continue }
            pending += step.needed.take()
        }
    }

    private func take() -> [Step] {
        storage.withLock { steps in
            defer { steps = [] }
            return steps
        }
    }
}
