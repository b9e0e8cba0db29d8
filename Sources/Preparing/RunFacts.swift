package import Watching
package import Results
import Store
import Foundation
package import Git
package import Pipeline

/// The facts that the repositories have about a run, read once before it is planned.
package struct RunFacts: Sendable {
    package var tested: OID
    package var tree: OID
    var commitTime: Int
    package var definitionCommit: OID
    var definitionTree: OID
    var changedFiles: [ChangedFile]
    var lastTag: String?
    /// The paths that the tested commit changes relative to the protected branch; for ``TrustFacts/changedPaths``.
    var broughtPaths: [String]
    var mergedInto: String?
    var defaultBranch: String?
    package var author: Signature
    /// The value of ``TrustFacts/otherAuthors``.
    package var otherAuthors: [Signature] = []
    /// The commit that somebody pushed: of a fix, the one that it mends.
    package var pushed: OID
    /// Notes for the report about how the tested commit was made.
    package var notes: [Finding] = []

    package func trust(
        _ request: RunRequest, _ declaration: WorkflowDeclaration, _ contributor: Contributor?
    ) -> TrustFacts {
        TrustFacts(
            isWorkingTree: request.isWorkingTree, subject: request.subjectInWords, mergedInto: mergedInto,
            defaultBranch: defaultBranch, isRelease: declaration.runsAtMostOnce, author: author,
            otherAuthors: otherAuthors, contributor: contributor, changedPaths: broughtPaths,
            rule: declaration.approval,
            task: request.task)
    }
}

extension RunRequest {
    /// Whether it was started by hand on a working tree: it names no ref.
    var isWorkingTree: Bool { event == .manual && ref.isEmpty }
}

extension RunPreparation {
    package static func facts(
        _ run: QueuedRun, _ repository: WatchedRepository, _ rules: TrustRules
    ) async throws -> RunFacts {
        let request = run.request
        guard let head = OID(hex: request.head), let definitionCommit = OID(hex: request.definitionCommit) else {
            throw EarlyVerdict(verdict: .infrastructure, reason: "the run names no commit")
        }
        let watched = repository.gitDirectory
        let merged = try await TestedCommit.make(request, store: repository.store)
        return try await withRepository(at: repository.store) { store in
            guard store.contains(head), store.contains(definitionCommit) else {
                throw EarlyVerdict(
                    gone: store.contains(head) ? request.definitionCommit : request.head, ref: request.ref)
            }
            let tested = merged?.commit ?? head
            // A ref of ours would not protect objects that belong to the watched repository.
            if try tested != head || !lendRepository(at: watched, { $0.contains(head) }) {
                try store.keep(tested, as: RunPin.ref(of: run.id))
            }
            // Read the watched repository itself, now: pipectl's store also has unmerged objects.
            let protection = try lendRepository(at: watched) {
                try Protection(of: tested, definitionCommit, request, rules, in: $0)
            }
            let source = try protection.definition(definitionCommit, tested, repository)
            let definitionTree = try definitionTree(of: source, tested, in: store)
            let commit = try store.commit(tested)
            let from = request.change.flatMap { OID(hex: $0.targetCommit) } ?? request.previous.flatMap(OID.init(hex:))
            let base = from.flatMap { store.contains($0) ? $0 : nil }
            let changed = try base.map { try store.diff(from: $0, to: tested) } ?? []
            var brought = changed
            if request.change == nil, protection.mergedInto == nil, let tip = protection.branches.defaultTip {
                // Without a common history everything is new. The tip serves as well as an empty tree would.
                brought = try store.diff(from: try store.mergeBase(tested, tip) ?? tip, to: tested)
            }
            // A fix is its change's: who may bring the one may bring the other. A try is the target's in the same way.
            let pushed =
                try request.fix?.isMaking == false
                ? store.commit(head).parents.first ?? head : request.task == nil ? head : definitionCommit
            return RunFacts(
                tested: tested, tree: commit.tree, commitTime: Int(commit.committer.time.timeIntervalSince1970),
                definitionCommit: source, definitionTree: definitionTree,
                changedFiles: changed.map(ChangedFile.init),
                lastTag: try request.event == .pullRequest ? nil : lastTag(before: tested, repository),
                broughtPaths: brought.flatMap { [$0.path] + [$0.oldPath].compactMap { $0 } },
                mergedInto: protection.mergedInto, defaultBranch: protection.branches.defaultBranch,
                author: try store.commit(pushed).author,
                otherAuthors: try request.isOfMergeQueue ? authors(of: tested, since: base, in: store) : [],
                pushed: pushed, notes: merged?.notes ?? [])
        }
    }

    /// What the protected branches say about a run.
    private struct Protection {
        var branches: ProtectedBranches
        /// The protected branch that has the tested commit.
        var mergedInto: String?
        /// Whether the run's own definition counts: a protected branch has it, or it is a person's working tree.
        var hasDefinition: Bool

        init(
            of tested: OID, _ definition: OID, _ request: RunRequest, _ rules: TrustRules, in watched: Repository
        ) throws {
            branches = ProtectedBranches.read(try watched.snapshot(under: "refs/heads/"), rules)
            hasDefinition = try request.isWorkingTree || branches.holder(of: definition, in: watched) != nil
            mergedInto = try branches.holder(of: tested, in: watched)
        }

        /// The commit whose `workflows/` counts: the wanted one, or the target's tip if no protected branch has that.
        func definition(_ wanted: OID, _ tested: OID, _ repository: WatchedRepository) throws -> OID {
            if hasDefinition { return wanted }
            guard let tip = branches.defaultTip else {
                throw EarlyVerdict(
                    verdict: .infrastructure,
                    reason:
                        "the definition of \(wanted.hex.prefix(10)) is not on a protected branch, and the protected "
                        + "branch of \(repository.name) is not known; name it: `pipectl protect BRANCH "
                        + "--repository \(repository.name)`", tested: tested)
            }
            return tip
        }
    }

    private static func definitionTree(of source: OID, _ tested: OID, in store: Repository) throws -> OID {
        guard let tree = try store.treeID(of: source, path: "workflows") else {
            throw EarlyVerdict(
                verdict: .definitionError,
                reason: "commit \(source.hex.prefix(10)) has no workflows/; run `pipectl init` in a "
                    + "clone and commit the result", tested: tested)
        }
        return tree
    }

    /// The authors of the commits that a merge queue put on top of `base`, each once. Only the newest 10,000 commits
    /// are read; no queue tests that many at the same time.
    private static func authors(of tested: OID, since base: OID?, in store: Repository) throws -> [Signature] {
        let commits = try store.log(from: tested, excluding: base.map { [$0] } ?? [], limit: 10_000)
        var seen: Set<String> = []
        // A merge commit was created by the queue; the commits that it merged are in the list.
        return commits.filter { $0.parents.count < 2 }.map(\.author).filter {
            seen.insert("\($0.name) \($0.email)").inserted
        }
    }

    /// The approval that lets a run start; nil if none is needed.
    ///
    /// - Throws: ``EarlyVerdict`` if a person must approve first, or if the daemon does not run such code at all.
    static func word(
        on decision: TrustDecision, _ run: QueuedRun, _ facts: RunFacts,
        _ approved: @Sendable (_ binding: String) async throws -> Approval?
    ) async throws -> Approval? {
        switch decision.ruling {
        case .allowed: return nil
        case .refused(let why):
            throw EarlyVerdict(
                verdict: .infrastructure, reason: why, tested: facts.tested, trust: decision.trust)
        case .needsApproval(let why, let isForThisRun):
            let definition = facts.definitionTree.hex
            let binding = Approval.binding(
                run.request, definition: definition, run: isForThisRun ? run.id : nil)
            if let word = try await approved(binding) { return word }
            throw EarlyVerdict(
                verdict: .needsApproval, reason: why, tested: facts.tested,
                question: Approval(
                    why: why, head: run.request.head, definition: definition, binding: binding, askedAt: Date()),
                trust: decision.trust)
        }
    }
}

extension EarlyVerdict {
    fileprivate init(gone commit: String, ref: String) {
        self.init(
            verdict: .infrastructure,
            reason: "commit \(commit.prefix(10)) is no longer in the repository: \(ref) was deleted or rewritten and "
                + "its objects are gone. Push it again.")
    }
}

extension ChangedFile {
    fileprivate init(_ change: FileChange) {
        self.init(
            status: Status(rawValue: change.status.rawValue) ?? .modified, path: change.path, oldPath: change.oldPath)
    }
}
