import Synchronization

/// The control groups of live runs, by the name of the run.
final class RunGroups: Sendable {
    private struct Entry {
        var group: ControlGroup
        /// The limits that are set.
        var limits = GroupLimits()
    }

    private let entries = Mutex<[String: Entry]>([:])
    /// Counts the groups of this process: all its daemons share one group.
    private static let made = Atomic<Int>(0)

    /// Returns the run's group, and creates it if needed. Its limits stay unchanged if `limits` is nil.
    func take(_ name: String, _ limits: GroupLimits?, in root: ControlGroup) throws -> ControlGroup {
        try entries.withLock { entries in
            let earlier = entries[name]
            var entry = try earlier ?? Entry(group: RunGroups.make(in: root))
            if let limits {
                do { try entry.group.set(limits, after: entry.limits) } catch {
                    if earlier == nil { entry.group.remove() }
                    throw error
                }
                entry.limits = limits
            }
            entries[name] = entry
            return entry.group
        }
    }

    private static func make(in root: ControlGroup) throws -> ControlGroup {
        while true {
            let name = "run-\(made.add(1, ordering: .relaxed).newValue)"
            // An earlier process with our number may have left a group with this name and with limits.
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

    /// Removes the group of a run whose last process has ended.
    func remove(_ name: String) { entries.withLock { $0.removeValue(forKey: name) }?.group.remove() }
}
