/// What starts a run of a workflow.
public struct Trigger: Sendable, Equatable, Codable {
    /// The kind of event that a trigger waits for.
    public enum Event: String, Sendable, Codable, CaseIterable {
        /// A push of a change.
        case pullRequest
        /// New commits on a branch that existed before.
        case merge
        /// A moved or new branch.
        case push
        /// A moved or new tag.
        case tag
        /// A point in time.
        case schedule
        /// `pipectl run`.
        case manual
    }

    /// The event that starts a run.
    public var event: Event
    /// Globs over branch names (`main`, `release/*`), or over tag names for ``Event/tag``.
    public var branches: [String]
    /// Globs over changed paths. Empty: any path.
    public var paths: [String]
    /// Globs over changed paths that are ignored.
    public var ignoredPaths: [String]
    /// The five cron fields of ``Event/schedule``, in UTC.
    public var cron: String?
    /// Whether drafts start a run of ``Event/pullRequest``.
    public var drafts = Drafts.tested
    /// Labels of which a change must have one. Empty: a change needs none.
    public var labels: [String] = []
    /// Patterns of which the commit's message must match one. Empty: any message.
    public var messages: [String] = []
    /// Patterns for messages of commits that start no run.
    public var ignoredMessages: [String] = []

    /// What a trigger does about changes that are drafts at the forge.
    public enum Drafts: String, Sendable, Codable {
        /// A draft starts runs like any other change.
        case tested
        /// A draft starts no run; once it is ready, it does.
        case ignored
    }

    /// A change (pull request, merge request, agent's branch) whose target is one of `branches`.
    ///
    /// The change is tested as its merge with the tip of the branch. What drafts and labels are, the connected forge says;
    /// without one no change is a draft, and none has labels.
    ///
    /// - Parameters:
    ///   - branches: Target branches, as globs; at least one.
    ///   - paths: Globs. Only changes that touch a matching path start a run; none means all changes.
    ///   - ignoring: Globs of paths that are ignored, for example `"docs/**"`.
    ///   - messages: Patterns. Only changes whose newest commit has a message that matches one start a run; none means all
    ///     changes. A message matches if one of its lines contains the pattern, for example `"[full]"`; `*` stands for any
    ///     characters, `^` at the start for the start of a line.
    ///   - ignoringMessages: Patterns. Changes whose newest commit has a message that matches one start no run, for example
    ///     `"[skip ci]"`.
    ///   - drafts: Whether drafts start runs. One that becomes ready starts those that it did not.
    ///   - labels: Only changes with one of these labels start a run; none means all changes. A label that is added later
    ///     starts it then.
    public static func pullRequest(
        into branches: String..., paths: [String] = [], ignoring: [String] = [], messages: [String] = [],
        ignoringMessages: [String] = [], drafts: Drafts = .tested, labels: [String] = []
    ) -> Trigger {
        Trigger(
            event: .pullRequest, branches: branches, paths: paths, ignoredPaths: ignoring, drafts: drafts,
            labels: labels, messages: messages, ignoredMessages: ignoringMessages)
    }

    /// New commits on one of `branches`, however they got there. ``PlanContext/mergedChanges`` names the changes that
    /// landed.
    ///
    /// The filters are those of ``pullRequest(into:paths:ignoring:messages:ignoringMessages:drafts:labels:)``. The message
    /// is that of the newest commit.
    public static func merge(
        into branches: String..., paths: [String] = [], ignoring: [String] = [], messages: [String] = [],
        ignoringMessages: [String] = []
    ) -> Trigger {
        Trigger(
            event: .merge, branches: branches, paths: paths, ignoredPaths: ignoring, messages: messages,
            ignoredMessages: ignoringMessages)
    }

    /// A moved or new branch whose name matches one of the globs.
    ///
    /// The filters are those of ``pullRequest(into:paths:ignoring:messages:ignoringMessages:drafts:labels:)``. The message
    /// is that of the newest commit.
    public static func push(
        to branches: String..., paths: [String] = [], ignoring: [String] = [], messages: [String] = [],
        ignoringMessages: [String] = []
    ) -> Trigger {
        Trigger(
            event: .push, branches: branches, paths: paths, ignoredPaths: ignoring, messages: messages,
            ignoredMessages: ignoringMessages)
    }

    /// A new or moved tag whose name matches one of the globs.
    public static func tag(matching globs: String...) -> Trigger {
        Trigger(event: .tag, branches: globs, paths: [], ignoredPaths: [])
    }

    /// A point in time, as five cron fields in UTC (`minute hour day month weekday`). The run tests the tip of
    /// `branch`.
    ///
    /// A time that passes while the daemon is down is skipped.
    public static func schedule(_ cron: String, on branch: String = "main") -> Trigger {
        Trigger(event: .schedule, branches: [branch], paths: [], ignoredPaths: [], cron: cron)
    }

    /// Only `pipectl run` starts the workflow. Every workflow can also be run like that.
    public static var manual: Trigger { Trigger(event: .manual, branches: [], paths: [], ignoredPaths: []) }
}
