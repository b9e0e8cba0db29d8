import DaemonLog
import Control
import Results
import Store
import Git
import Logging

/// Tracks the target branch of one watched repository, and reports once what a person must decide.
package actor TargetWatch {
    private let repository: WatchedRepository
    private let index: Store.Index
    private let named: String?
    private let log: Logger
    private var said: String?
    /// What a person must decide, as a sentence with the command; nil if nothing.
    private(set) var advice: String?
    /// The name of the target branch; nil if unknown.
    private(set) var target: String?

    /// Both for `status`.
    package var words: (target: String?, advice: String?) { (target, advice) }

    /// - Parameter named: The branch that `--target` names.
    init(_ repository: WatchedRepository, index: Store.Index, named: String?, log: Logger) {
        self.repository = repository
        self.index = index
        self.named = named
        self.log = log
    }

    /// The rule for the runs of an observation; the first one that sees a branch remembers it.
    func look(_ snapshot: RefSnapshot, _ rules: ChangeRefs) async throws -> TargetRule {
        let name = repository.name
        let head = try await withRepository(at: repository.gitDirectory) { try $0.mainBranch() }
        var rule = TargetRule(named: named, remembered: try await index.target(of: name))
        rule.missing = try await index.missingTarget(of: name)
        let hasBranches = snapshot.refs.entries(under: "refs/heads/").contains { _ in true }
        if let named, named != rule.missing, hasBranches, snapshot.refs["refs/heads/\(named)"] == nil {
            try await index.rememberMissingTarget(named, of: name)
            rule.missing = named
        }
        if rule.remembered == nil, let first = TargetRule.first(head: head, refs: snapshot.refs, rules: rules) {
            rule.remembered = try await index.rememberTarget(first, of: name)
            if first.source == .head {
                log.notice(
                    "\(name): the protected branch is \(first.name), which HEAD names",
                    metadata: .code(.protectedBranch, repository: name))
            }
        }
        (target, advice) = (
            rule.branch(in: snapshot.refs)?.name, rule.advice(for: name, head: head, refs: snapshot.refs)
        )
        if let advice, advice != said {
            log.warning("\(advice)", metadata: .code(.protectedBranchAdvice, repository: name))
        }
        said = advice
        return rule
    }
}
