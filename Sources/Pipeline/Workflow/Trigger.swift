/// What starts a run of a workflow.
public struct Trigger: Sendable, Equatable, Codable {
    /// The kind of happening in the repository, or of request, that a trigger waits for.
    public enum Event: String, Sendable, Codable, CaseIterable {
        case pullRequest, merge, push, tag, schedule, manual
    }

    public var event: Event
    /// Globs over branch names (`main`, `release/*`), or over tag names for ``Event/tag``.
    public var branches: [String]
    /// Globs over changed paths; empty means any path.
    public var paths: [String]
    /// Globs over changed paths that don't count.
    public var ignoredPaths: [String]
    /// The five cron fields of ``Event/schedule``, in UTC.
    public var cron: String?

    /// A change (pull request, merge request, agent branch) that wants into one of `branches`.
    ///
    /// The change is tested as its merge with the tip of the branch.
    /// - Parameters:
    ///   - paths: Only changes that touch a path matching one of these globs; none means all changes.
    ///   - ignoring: Paths that don't count, for example `"docs/**"`.
    public static func pullRequest(
        into branches: String..., paths: [String] = [], ignoring: [String] = []
    ) -> Trigger {
        Trigger(event: .pullRequest, branches: branches, paths: paths, ignoredPaths: ignoring)
    }

    /// New commits on one of `branches`, however they got there. Each landed change is named in
    /// ``PlanContext/mergedChanges``.
    public static func merge(into branches: String..., paths: [String] = [], ignoring: [String] = []) -> Trigger {
        Trigger(event: .merge, branches: branches, paths: paths, ignoredPaths: ignoring)
    }

    /// A moved or new branch whose name matches one of the globs.
    public static func push(to branches: String..., paths: [String] = [], ignoring: [String] = []) -> Trigger {
        Trigger(event: .push, branches: branches, paths: paths, ignoredPaths: ignoring)
    }

    /// A new or moved tag whose name matches one of the globs.
    public static func tag(matching globs: String...) -> Trigger {
        Trigger(event: .tag, branches: globs, paths: [], ignoredPaths: [])
    }

    /// A point in time, as five cron fields in UTC (`minute hour day month weekday`), on the tip of `branch`.
    ///
    /// A moment that passes while the box is down is not made up for.
    public static func schedule(_ cron: String, on branch: String = "main") -> Trigger {
        Trigger(event: .schedule, branches: [branch], paths: [], ignoredPaths: [], cron: cron)
    }

    /// Only by hand, with `pipectl run`. Every workflow can also be run by hand.
    public static var manual: Trigger { Trigger(event: .manual, branches: [], paths: [], ignoredPaths: []) }

    /// Whether a branch (or tag) of this name is meant.
    public func matches(branch: String) -> Bool {
        branches.contains { pattern in (try? Glob(pattern))?.matches(branch) ?? false }
    }

    /// Whether a change of these paths counts; without filters every change does.
    public func matches(paths changed: [String]) -> Bool {
        if paths.isEmpty && ignoredPaths.isEmpty { return true }
        let wanted = paths.compactMap { try? Glob($0) }
        let ignored = ignoredPaths.compactMap { try? Glob($0) }
        return changed.contains { path in
            (wanted.isEmpty || wanted.contains { $0.matches(path) }) && !ignored.contains { $0.matches(path) }
        }
    }
}
