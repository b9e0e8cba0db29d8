package import Results
import Foundation
package import Git
import Pipeline

/// The commit that is tested for a change: its merge with the target, as it would land.
package struct TestedCommit: Sendable {
    package var commit: OID
    /// What a reader of the report must know of the merge.
    package var notes: [Finding] = []

    /// Makes the commit of a change that both have moved on, or takes the head itself where it has the target in it.
    ///
    /// - Parameter merger: nil: the one that this machine has.
    /// - Returns: nil for a run of no change, and where the head is not there.
    /// - Throws: ``EarlyVerdict`` for a conflict, and where there is no merge.
    package static func make(
        _ request: RunRequest, store: String, merger: ChangeMerger? = nil
    ) async throws -> TestedCommit? {
        guard let change = request.change, let head = OID(hex: request.head),
            let target = OID(hex: change.targetCommit)
        else { return nil }
        switch try await need(head, target, change, store) {
        case .nothing: return nil
        case .head: return TestedCommit(commit: head)
        case .merge: break
        }
        let found: ChangeMerger
        if let merger { found = merger } else { found = try await ChangeMerger.find() }
        let outcome = try await Self.outcome(of: MergePair(head, into: target), change, store, found)
        switch outcome {
        case .merged(let tree):
            let commit = try await withRepository(at: store) { try makeCommit(tree, head, target, change, $0) }
            return TestedCommit(commit: commit, notes: found.whyNotGit.map { [note($0)] } ?? [])
        case .conflicts(let conflicts): throw EarlyVerdict(conflicts, with: change.target)
        }
    }

    private static func outcome(
        of pair: MergePair, _ change: Change, _ store: String, _ merger: ChangeMerger
    ) async throws -> MergeOutcome {
        do {
            return try await merger.merge(pair, storingIn: store)
        } catch let failure as MergeFailure {
            throw EarlyVerdict(
                verdict: .infrastructure,
                reason: "\(failure). Merge \(change.target) into the change and push it, or try again: `pipectl rerun`."
            )
        } catch let error as GitError where error.code == .tooLarge {
            throw EarlyVerdict(
                verdict: .conflict,
                reason: "it can't be merged into \(change.target): \(error) Merge \(change.target) into the change and "
                    + "push again.")
        }
    }

    private enum Need { case nothing, head, merge }

    private static func need(_ head: OID, _ target: OID, _ change: Change, _ store: String) async throws -> Need {
        try await withRepository(at: store) { store in
            guard store.contains(head) else { return .nothing }
            guard store.contains(target) else {
                throw EarlyVerdict(
                    verdict: .infrastructure,
                    reason:
                        "commit \(change.targetCommit.prefix(10)) of \(change.target) is no longer in the repository. "
                        + "`pipectl rerun` tests the change against the new tip.")
            }
            if try store.isAncestor(target, of: head) { return .head }
            guard try store.mergeBase(head, target) != nil else {
                throw EarlyVerdict(
                    verdict: .conflict,
                    reason: "the change and \(change.target) have no common history. "
                        + "Rebase the change onto \(change.target).")
            }
            return .merge
        }
    }

    private static func makeCommit(
        _ tree: OID, _ head: OID, _ target: OID, _ change: Change, _ store: Repository
    ) throws -> OID {
        // The newest of the two times and a fixed name: the same merge is the same commit, whoever makes it.
        let times = try [store.commit(head).committer.time, store.commit(target).committer.time]
        let author = Signature(
            name: "pipectl", email: "pipectl@localhost", time: times.max() ?? Date(timeIntervalSince1970: 0))
        return try store.createCommit(
            tree: tree, parents: [target, head], author: author, committer: author,
            message: "Merge change \(change.name) into \(change.target)\n")
    }

    private static func note(_ why: String) -> Finding {
        Finding(
            rule: "libgit2-merge", severity: .note,
            message: "libgit2 made the tested merge, which in rare cases differs from Git's: \(why)",
            file: nil, line: nil, column: nil, suggestion: "install Git 2.38 or newer on the build box")
    }
}

extension EarlyVerdict {
    fileprivate init(_ conflicts: [MergeConflict], with target: String) {
        let files = conflicts.prefix(3).map(\.path).joined(separator: ", ")
        self.init(
            verdict: .conflict,
            reason: "it conflicts with \(target) in "
                + (conflicts.count == 1 ? files : "\(conflicts.count) files: \(files)")
                + ". Merge or rebase onto \(target) and push again.",
            conflicts: conflicts.map { Report.Conflict(path: $0.path, kind: $0.kind) })
    }
}
