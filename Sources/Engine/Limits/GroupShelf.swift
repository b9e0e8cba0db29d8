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
    }

    private let state = Mutex(State())
    private static let mostKept = 8
    /// Of this process: its boxes have one group together.
    private static let made = Atomic<Int>(0)

    /// The run's group; its limits are what they were before where `limits` is nil.
    func take(_ name: String, _ limits: GroupLimits?, in root: ControlGroup) throws -> ControlGroup {
        try state.withLock { state in
            let earlier = state.taken[name]
            var entry = try earlier ?? GroupShelf.kept(&state) ?? Entry(group: GroupShelf.make(in: root))
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

    /// One that nobody has taken away meanwhile.
    private static func kept(_ state: inout State) -> Entry? {
        while let entry = state.kept.popLast() {
            if entry.group.isThere { return entry }
            entry.group.remove()
        }
        return nil
    }

    private static func make(in root: ControlGroup) throws -> ControlGroup {
        while true {
            // Not the run's name: it serves others.
            let name = "run-\(made.add(1, ordering: .relaxed).newValue)"
            // A process that had our number may have left one of the same name, with its limits.
            if !root.child(named: name).isThereInPart { return try make(name, in: root) }
        }
    }

    private static func make(_ name: String, in root: ControlGroup) throws -> ControlGroup {
        let group = try root.child(name, GroupLimits())
        do { return try group.divided() } catch {
            group.remove()
            throw error
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
