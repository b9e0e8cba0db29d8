import Synchronization

/// The groups of a box's runs, those that go on and some that have ended.
///
/// To make a group and to remove it takes the kernel nearly a millisecond of processor, most of it after rmdir(2) has
/// returned.
final class GroupShelf: Sendable {
    private struct Entry {
        var group: ControlGroup
        /// What it limits.
        var limits = GroupLimits()
    }

    private struct State {
        /// By the run.
        var taken: [String: Entry] = [:]
        var kept: [Entry] = []
        var made = 0
    }

    private let state = Mutex(State())
    private static let mostKept = 8

    /// The run's group; its limits are what they were before where `limits` is nil.
    func take(_ name: String, _ limits: GroupLimits?, in root: ControlGroup) throws -> ControlGroup {
        try state.withLock { state in
            let earlier = state.taken[name]
            var entry: Entry
            if let found = earlier ?? state.kept.popLast() {
                entry = found
            } else {
                // Not the run's name: it serves others.
                state.made += 1
                entry = Entry(group: try root.child("run-\(state.made)", GroupLimits()))
            }
            if let limits {
                do { try entry.group.set(limits, after: entry.limits) } catch {
                    if earlier == nil { entry.group.remove() }
                    throw error
                }
                entry.limits = limits
            }
            state.taken[name] = entry
            return entry.group
        }
    }

    /// - Parameter mayServe: Whether another run may have it, if it is as good as new.
    func giveBack(_ name: String, mayServe: Bool) {
        guard let entry = state.withLock({ $0.taken.removeValue(forKey: name) }) else { return }
        let isKept =
            mayServe && entry.group.renew()
            && state.withLock { state in
                guard state.kept.count < GroupShelf.mostKept else { return false }
                state.kept.append(entry)
                return true
            }
        if !isKept { entry.group.remove() }
    }

    /// Removes all that no run has.
    func clear() {
        for entry in state.withLock({ state in
            defer { state.kept = [] }
            return state.kept
        }) {
            entry.group.remove()
        }
    }
}
