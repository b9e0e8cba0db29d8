import Foundation
import Synchronization

/// What deliveries about one repository said and nobody has looked at yet. However many arrive, it stays small: hints that
/// say the same become one.
final class ForgeInbox: Sendable {
    /// Deliveries whose codes are remembered, so that a replayed one is known.
    static let mostRemembered = 20_000
    /// Changes that are named; when more are, all are looked at.
    static let mostChanges = 500
    /// Buttons that wait; more are refused, and the forge shows that.
    static let mostButtons = 200

    /// What there is to look at.
    struct Contents: Sendable, Equatable {
        var changes: Set<Int> = []
        var commented: Set<Int> = []
        /// More changes than are named.
        var isOverfull = false
        /// Who pushed which head.
        var pushes: [String: ForgeUser] = [:]
        var buttons: [ForgeButton] = []
        /// Codes of deliveries that are to be remembered for later processes.
        var codes: [Data] = []

        var isEmpty: Bool { self == Contents() }
    }

    /// What becomes of a delivery.
    enum Outcome: Sendable, Equatable {
        case taken
        /// It came before.
        case known
        /// There is no room for what must not be lost.
        case full
    }

    private struct State {
        var contents = Contents()
        var known: Set<Data> = []
        /// ``known`` by age, from `oldest` on around the end.
        var order: [Data] = []
        var oldest = 0
        /// The task that waits for an arrival.
        var waiter: CheckedContinuation<Void, Never>?

        mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
            defer { waiter = nil }
            return waiter
        }
    }

    private let state = Mutex(State())

    /// Takes the codes that an earlier process remembered, oldest first.
    func remember(_ codes: [Data]) {
        state.withLock { state in
            for code in codes { Self.remember(code, &state) }
        }
    }

    /// Takes a delivery once.
    ///
    /// - Parameter codes: What names it: all of them are remembered, and any that is known makes it a repetition.
    func take(_ hint: ForgeHint, codes: [Data]) -> Outcome {
        let (outcome, waiter) = state.withLock { state -> (Outcome, CheckedContinuation<Void, Never>?) in
            guard !codes.contains(where: state.known.contains) else { return (.known, nil) }
            if case .button = hint, state.contents.buttons.count >= Self.mostButtons { return (.full, nil) }
            for code in codes { Self.remember(code, &state) }
            state.contents.codes = (state.contents.codes + codes).suffix(Self.mostRemembered)
            state.contents.add(hint)
            return (.taken, state.takeWaiter())
        }
        waiter?.resume()
        return outcome
    }

    private static func remember(_ code: Data, _ state: inout State) {
        guard state.known.insert(code).inserted else { return }
        if state.order.count < mostRemembered {
            state.order.append(code)
        } else {
            state.known.remove(state.order[state.oldest])
            state.order[state.oldest] = code
            state.oldest = (state.oldest + 1) % mostRemembered
        }
    }

    /// All that has arrived; what is taken out is the caller's to look at.
    func empty() -> Contents {
        state.withLock { state in
            defer { state.contents = Contents() }
            return state.contents
        }
    }

    /// Returns when something has arrived that nobody has taken out, or the task is cancelled. One task waits.
    ///
    /// A stream would end for good when a task that waits for it is cancelled, and every pause ends with that.
    func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if Task.isCancelled || !state.contents.isEmpty { return true }
                    state.waiter = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.takeWaiter() }?.resume()
        }
    }
}

extension ForgeInbox.Contents {
    mutating func add(_ hint: ForgeHint) {
        switch hint {
        case .refs, .nothing: break
        case .change(let number, let push):
            if changes.count < ForgeInbox.mostChanges { changes.insert(number) } else { isOverfull = true }
            if let push, pushes.count < 2 * ForgeInbox.mostChanges { pushes[push.head] = push.by }
        case .comment(let change):
            if commented.count < ForgeInbox.mostChanges { commented.insert(change) } else { isOverfull = true }
        case .button(let button): buttons.append(button)
        }
    }
}
