import Synchronization

/// The steps that one step needs.
///
/// All copies of a step share this object, including those that modifiers make. So it also tells whether two values
/// come from the same `Step(…)`.
final class NeededSteps: Sendable {
    private let storage: Mutex<[Step]>

    init(_ steps: [Step]) { storage = Mutex(steps) }

    var steps: [Step] { storage.withLock { $0 } }

    /// Frees a long chain of steps one by one. Otherwise each release would be nested in the previous one, and a few
    /// thousand of them overflow a thread's stack.
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
