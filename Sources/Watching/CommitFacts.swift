import Git
import Pipeline

/// What the filters of triggers ask about commits; nothing is asked without a filter.
struct CommitFacts {
    /// Returns the changed paths between two commits. Nil if they can't be determined: then every filter matches.
    var paths: (_ from: OID?, _ to: OID) -> [String]?
    /// Returns the message of a commit. Nil if it can't be read: then every filter matches, and the run reports why.
    var message: (_ commit: OID) -> String?

    /// Where nothing is known, every filter matches.
    static var unknown: CommitFacts { CommitFacts(paths: { _, _ in nil }, message: { _ in nil }) }
}

extension CommitFacts {
    /// The facts that a repository has.
    init(in repository: Repository) {
        paths = { from, to in
            // The change's own paths: the difference from the point where it left the target.
            let base = from.flatMap { (try? repository.mergeBase($0, to)) ?? $0 }
            // Nil if there are too many, or if they can't be read; the run reports why.
            return (try? repository.diff(from: base, to: to))?.flatMap { [$0.path] + [$0.oldPath].compactMap { $0 } }
        }
        message = { try? repository.commit($0).message }
    }

    /// The first trigger of a workflow that starts a run for the commits.
    ///
    /// - Parameters:
    ///   - from: The commit to which `to` is compared for filters by path.
    ///   - applies: Whether a trigger applies as far as commits don't matter.
    func trigger(
        of declaration: WorkflowDeclaration, from: OID?, to: OID, where applies: (Trigger) -> Bool
    ) -> TriggerChoice {
        var objection: String?
        for trigger in declaration.triggers where applies(trigger) && matches(pathsOf: trigger, from: from, to: to) {
            guard let reason = self.objection(of: trigger, to: to) else { return .starts(trigger) }
            objection = objection ?? reason
        }
        return objection.map { .isHeldBack($0) } ?? .doesNotApply
    }

    private func matches(pathsOf trigger: Trigger, from: OID?, to: OID) -> Bool {
        guard trigger.filtersByPath else { return true }
        return paths(from, to).map { trigger.matches(paths: $0) } ?? true
    }

    private func objection(of trigger: Trigger, to commit: OID) -> String? {
        guard trigger.filtersByMessage else { return nil }
        return message(commit).flatMap { trigger.objection(toMessage: $0) }
    }
}

/// What the triggers of a workflow say about commits.
enum TriggerChoice: Equatable {
    case starts(Trigger)
    /// Only the commit's message prevents a run: a sentence about the workflow without its subject.
    case isHeldBack(String)
    case doesNotApply

    var isStart: Bool { if case .starts = self { true } else { false } }
}

extension Trigger {
    var filtersByPath: Bool { !paths.isEmpty || !ignoredPaths.isEmpty }
    var filtersByMessage: Bool { !messages.isEmpty || !ignoredMessages.isEmpty }
}
