import Results
import Git
import Pipeline
import Store

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

    /// What filters ask about a push of `to`.
    ///
    /// - Parameters:
    ///   - branch: The name of the branch or tag; of a change's target.
    ///   - from: The commit to which `to` is compared for filters by path.
    ///   - forge: What the forge says of a change; without it a change is no draft and has no labels.
    func ofPush(to branch: String, from: OID?, to: OID, forge: ChangeFacts? = nil) -> TriggerFacts {
        TriggerFacts(
            branch: branch, isDraft: forge?.isDraft ?? false, labels: forge?.labels ?? [], paths: { paths(from, to) },
            message: { message(to) })
    }
}

/// What the triggers of a workflow say about a push.
enum TriggerChoice: Equatable {
    case starts(Trigger)
    /// Each trigger of the event has a filter that does not let the push through. It is that of the trigger that came
    /// nearest to a run.
    case isHeldBack(TriggerObjection)
    /// No trigger waits for such an event.
    case doesNotApply

    var isStart: Bool { if case .starts = self { true } else { false } }
}

extension WorkflowDeclaration {
    /// The first trigger that starts a run for a push.
    ///
    /// - Parameter event: Whether a trigger waits for such an event.
    func trigger(for facts: TriggerFacts, where event: (Trigger.Event) -> Bool) -> TriggerChoice {
        var nearest: TriggerObjection?
        for trigger in triggers where event(trigger.event) {
            guard let objection = trigger.objection(to: facts) else { return .starts(trigger) }
            if nearest.map({ objection.isNearer(than: $0) }) ?? true { nearest = objection }
        }
        return nearest.map { .isHeldBack($0) } ?? .doesNotApply
    }
}
