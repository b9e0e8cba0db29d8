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
    /// People who are named for one issue.
    static let mostLabellers = 10

    /// What there is to look at.
    struct Contents: Sendable, Equatable {
        var changes: Set<Int> = []
        var commented: Set<Int> = []
        var issues: Set<Int> = []
        /// Who may have set the labels of an issue, as deliveries say.
        var labellers: [Int: [ForgeUser]] = [:]
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
    }

    private let state = Mutex(State())
    private let arrival = ForgeSignal()

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
        let outcome = state.withLock { state -> Outcome in
            guard !codes.contains(where: state.known.contains) else { return .known }
            if case .button = hint, state.contents.buttons.count >= Self.mostButtons { return .full }
            for code in codes { Self.remember(code, &state) }
            state.contents.codes += codes
            // Seldom, since it moves all of them.
            if state.contents.codes.count > 2 * Self.mostRemembered { state.contents.forgetOldest() }
            state.contents.add(hint)
            return .taken
        }
        if outcome == .taken { arrival.tell() }
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
        arrival.clear()
        return state.withLock { state in
            defer { state.contents = Contents() }
            state.contents.forgetOldest()
            return state.contents
        }
    }

    /// Takes back what was taken out and not looked at.
    func giveBack(_ contents: Contents) {
        guard !contents.isEmpty else { return }
        state.withLock { state in
            var all = contents
            all.merge(state.contents)
            state.contents = all
        }
        arrival.tell()
    }

    /// Returns when something has arrived since the last ``empty()``, or the task is cancelled. One task waits.
    func wait() async { await arrival.wait() }
}

extension ForgeInbox.Contents {
    /// Leaves as many codes as are remembered.
    fileprivate mutating func forgetOldest() {
        codes.removeFirst(max(codes.count - ForgeInbox.mostRemembered, 0))
    }

    /// Adds what came later.
    mutating func merge(_ later: Self) {
        changes.formUnion(later.changes)
        commented.formUnion(later.commented)
        issues.formUnion(later.issues)
        labellers.merge(later.labellers) { $0 + $1 }
        isOverfull = isOverfull || later.isOverfull
        pushes.merge(later.pushes) { $1 }
        buttons += later.buttons
        codes += later.codes
        forgetOldest()
    }

    mutating func add(_ hint: ForgeHint) {
        switch hint {
        case .refs, .nothing: break
        case .change(let number, let push):
            if changes.count < ForgeInbox.mostChanges { changes.insert(number) } else { isOverfull = true }
            if let push, pushes.count < 2 * ForgeInbox.mostChanges { pushes[push.head] = push.by }
        case .comment(let change):
            if commented.count < ForgeInbox.mostChanges { commented.insert(change) } else { isOverfull = true }
        case .issue(let number, let person):
            if issues.count < ForgeInbox.mostChanges { issues.insert(number) } else { isOverfull = true }
            if let person, issues.contains(number), !labellers[number, default: []].contains(person),
                labellers[number, default: []].count < ForgeInbox.mostLabellers
            {
                labellers[number, default: []].append(person)
            }
        case .button(let button): buttons.append(button)
        }
    }
}
