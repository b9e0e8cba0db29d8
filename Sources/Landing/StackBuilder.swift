import Watching
import Foundation
import Git
import MergeQueue
import Pipeline

/// Merges changes one after the other on top of a commit, as they would land. It writes objects only, no refs.
///
/// The commits are deterministic: the same changes on top of the same commit always get the same ids.
struct StackBuilder: Sendable {
    /// The repository from which objects are read and to which the new ones are written.
    let store: String
    let branch: String
    let method: LandingMethod
    let merger: ChangeMerger

    /// Merges the entries in order and ends with the first that can't be merged.
    ///
    /// - Returns: The result for each entry, up to and including the first that can't be merged.
    /// - Throws: `GitError` if the repository can't be read or written.
    func build(_ entries: [QueueEntry], on base: OID) async throws -> [BuiltEntry] {
        var built: [BuiltEntry] = []
        var tip = base
        for entry in entries {
            let made = try await add(entry, on: tip)
            built.append(made)
            guard case .commit(let commit, _) = made, let next = OID(hex: commit) else { break }
            tip = next
        }
        return built
    }

    private func add(_ entry: QueueEntry, on tip: OID) async throws -> BuiltEntry {
        guard let head = OID(hex: entry.head) else { return .failed(.unmergeable("its head is no commit")) }
        let obstacle = try await withRepository(at: store) { try Self.obstacle(head, tip, $0) }
        if let obstacle { return .failed(obstacle) }
        if method == .rebase {
            return try await withRepository(at: store) { try Self.rebase(head, on: tip, $0) }
        }
        let outcome: MergeOutcome
        do {
            outcome = try await merger.merge(MergePair(head, into: tip), storingIn: store)
        } catch let failure as MergeFailure {
            return .failed(.unmergeable("\(failure)"))
        } catch let error as GitError where error.code == .tooLarge {
            return .failed(.unmergeable("\(error)"))
        }
        switch outcome {
        case .conflicts(let conflicts): return .failed(Self.failure(conflicts))
        case .merged(let tree):
            return try await withRepository(at: store) { store in
                if try store.commit(tip).tree == tree { return .failed(.nothing) }
                let commit = try commit(tree, entry, head, tip, store)
                return .commit(commit.hex, tree: tree.hex)
            }
        }
    }

    /// Why the change can't be merged, independently of its files; nil if there is no such reason.
    private static func obstacle(_ head: OID, _ tip: OID, _ store: Repository) throws -> QueueFailure? {
        guard store.contains(head) else {
            return .unmergeable("its commit \(head.short) is no longer in the repository; push it again")
        }
        if try store.isAncestor(head, of: tip) { return .nothing }
        guard try store.mergeBase(head, tip) != nil else {
            return .unmergeable("it has no common history with the target; rebase it")
        }
        return nil
    }

    private static func failure(_ conflicts: [MergeConflict]) -> QueueFailure {
        .conflict(conflicts.prefix(20).map(\.path))
    }

    // MARK: Squash and merge

    private func commit(
        _ tree: OID, _ entry: QueueEntry, _ head: OID, _ tip: OID, _ store: Repository
    ) throws -> OID {
        let (change, target) = (try store.commit(head), try store.commit(tip))
        let committer = Self.committer(after: [change, target])
        switch method {
        case .merge:
            return try store.createCommit(
                tree: tree, parents: [tip, head], author: committer, committer: committer,
                message: "Merge change \(entry.change) into \(branch)\n\n\(Self.line(entry.title))\n")
        case .squash, .rebase:
            return try store.createCommit(
                tree: tree, parents: [tip], author: change.author, committer: committer,
                message: try squashMessage(entry, change, head, tip, store))
        }
    }

    /// A change of one commit keeps that commit's message. For several commits: the title, then the first line of each
    /// commit.
    private func squashMessage(
        _ entry: QueueEntry, _ change: Commit, _ head: OID, _ tip: OID, _ store: Repository
    ) throws -> String {
        let commits = try store.log(from: head, excluding: [tip], limit: 100).filter { $0.parents.count < 2 }
        let name = entry.change.allSatisfy(\.isNumber) ? "#\(entry.change)" : entry.change
        let first = Self.line(entry.title.isEmpty ? change.summary : entry.title)
        let subject = first.isEmpty ? "Change \(name)" : "\(first) (\(name))"
        if commits.count == 1 {
            let body = change.message.split(separator: "\n", omittingEmptySubsequences: false).dropFirst()
                .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
            return body.isEmpty ? "\(subject)\n" : "\(subject)\n\n\(body.replacing("\0", with: ""))\n"
        }
        let lines = commits.reversed().map { "- \(Self.line($0.summary))" }
        return "\(subject)\n\n\(lines.joined(separator: "\n"))\n"
    }

    /// The committer of generated commits: a fixed name and the newest time of the given commits, so that the commit's
    /// id does not depend on when it is made.
    private static func committer(after commits: [Commit]) -> Signature {
        let time = commits.map(\.committer.time).max() ?? Date(timeIntervalSince1970: 0)
        return Signature(name: "pipectl", email: "pipectl@localhost", time: time)
    }

    /// The first 500 characters of a text from the change, with control characters replaced.
    private static func line(_ text: String) -> String {
        let plain = text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : Character($0) }
        return String(String(plain).prefix(500)).trimmingCharacters(in: .whitespaces)
    }

    // MARK: Rebase

    /// Applies the change's commits one after the other, without its merge commits. If they are on top of `tip`
    /// already, they stay unchanged.
    private static func rebase(_ head: OID, on tip: OID, _ store: Repository) throws -> BuiltEntry {
        let commits = Array(try store.log(from: head, excluding: [tip], limit: 1_000).reversed())
        let isLinear = commits.allSatisfy { $0.parents.count == 1 }
        if isLinear, commits.first?.parents.first == tip, commits.last?.id == head {
            return .commit(head.hex, tree: try store.commit(head).tree.hex)
        }
        guard commits.count < 1_000 else { return .failed(.unmergeable("it has too many commits to be rebased")) }
        var current = try store.commit(tip)
        for commit in commits where commit.parents.count == 1 {
            switch try repeated(commit, on: current, store) {
            case nil: return .failed(.unmergeable("files that both sides changed are too large to be merged by lines"))
            case .conflicts(let conflicts): return .failed(failure(conflicts))
            case .merged(let tree):
                if tree == current.tree { continue }
                let made = try store.createCommit(
                    tree: tree, parents: [current.id], author: commit.author,
                    committer: committer(after: [commit, current]), message: commit.message)
                current = try store.commit(made)
            }
        }
        return current.id == tip ? .failed(.nothing) : .commit(current.id.hex, tree: current.tree.hex)
    }

    /// Applies the effect of one commit to another; nil if the files are too large to be merged.
    private static func repeated(_ commit: Commit, on current: Commit, _ store: Repository) throws -> MergeOutcome? {
        do {
            return try store.merge(
                tree: commit.tree, into: current.tree, ancestor: store.commit(commit.parents[0]).tree)
        } catch {
            guard error.code == .tooLarge else { throw error }
            return nil
        }
    }
}
