import Archive
import Foundation
import Git
import Pipeline

/// What one look saw: plain facts, gathered with the repository in hand, from which ``Decision`` is made.
struct Sighting: Sendable {
    /// A change whose head is new.
    struct MovedChange: Sendable, Equatable {
        var name: String
        var ref: String
        var head: OID
        var target: String
        var targetCommit: OID
        var title: String
        var author: String
        /// Already part of the target: nothing to test.
        var isLanded: Bool
    }

    /// A branch that points somewhere else than before.
    struct MovedBranch: Sendable, Equatable {
        var name: String
        var ref: String
        var old: OID?
        var new: OID
        var landings: [Landing]
        /// The commit whose `workflows/` counts where that is not ``new``: the default branch's tip, for a branch that
        /// nobody has merged.
        var definition: OID?
    }

    /// A tag that is new or moved.
    struct MovedTag: Sendable, Equatable {
        var name: String
        var ref: String
        var commit: OID
        /// As for a branch.
        var definition: OID?
    }

    var moved: [RefMove] = []
    var changes: [MovedChange] = []
    var branches: [MovedBranch] = []
    var tags: [MovedTag] = []
    /// Names of changes whose ref is gone.
    var closed: [String] = []
    /// The tip of each branch.
    var tips: [String: OID] = [:]
    /// The full ref of each change that has one; only where a branch moved.
    var refs: [String: String] = [:]
    /// Heads of all changes that have a ref; only where a branch moved.
    var heads: [String: OID] = [:]
    /// The branch that changes want into unless known otherwise.
    var defaultTarget: String?
    /// The tree id of `workflows/` in each commit that may define a run; no entry: the commit has none.
    var definitions: [OID: OID] = [:]

    /// The branch that changes without a forge's word want into: `preferred`, else the repository's default branch.
    ///
    /// HEAD says which that is in a bare repository only; in a work tree it is whatever somebody checked out.
    static func defaultTarget(_ repository: Repository, _ snapshot: RefSnapshot, preferred: String?) -> String? {
        let head = snapshot.head.flatMap { $0.hasPrefix("refs/heads/") ? String($0.dropFirst(11)) : nil }
        let usual = ["main", "master", "trunk", "develop"]
        let candidates = [preferred] + (repository.isBare ? [head] + usual : usual + [head])
        return candidates.compactMap { $0 }.first { snapshot.refs["refs/heads/\($0)"] != nil }
    }

    /// The target of each change that moved.
    var targets: [String: String] { Dictionary(changes.map { ($0.name, $0.target) }, uniquingKeysWith: { $1 }) }

    /// Reads everything that a decision about `refChanges` needs.
    static func gather(
        _ repository: Repository, snapshot: RefSnapshot, refChanges: [RefChange], rules: ChangeRefs, target: String?,
        policy: TrustPolicy = .standard
    ) throws -> Sighting {
        var sighting = Sighting()
        let protected = ProtectedBranches.read(repository, snapshot, policy, rules, target: target)
        /// What nobody has merged must not bring the rules that it is judged by.
        func definition(of commit: OID) throws -> OID? {
            try protected.holder(of: commit, in: repository) == nil ? protected.defaultTip : nil
        }
        // The heads of all changes matter only where a branch moved, which may have taken some in or left some behind.
        let movesBranch = refChanges.contains {
            if case .branch = rules.kind(of: $0.name) { $0.new != nil } else { false }
        }
        let relevant = movesBranch ? snapshot.refs[...] : snapshot.refs.entries(under: "refs/heads/")
        for (ref, commit) in relevant {
            switch rules.kind(of: ref) {
            case .branch(let name): sighting.tips[name] = commit
            case .change(let name):
                sighting.heads[name] = commit
                sighting.refs[name] = ref
            case .tag, .other: continue
            }
        }
        let defaultTarget = defaultTarget(repository, snapshot, preferred: target)
        sighting.defaultTarget = defaultTarget
        for change in refChanges {
            sighting.moved.append(RefMove(ref: change.name, old: change.old?.hex, new: change.new?.hex))
            switch rules.kind(of: change.name) {
            case .change(let name):
                guard let head = change.new else {
                    sighting.closed.append(name)
                    continue
                }
                guard let defaultTarget, let tip = sighting.tips[defaultTarget] else { continue }
                guard let commit = try? repository.commit(head) else { continue }
                sighting.changes.append(
                    MovedChange(
                        name: name, ref: change.name, head: head, target: defaultTarget, targetCommit: tip,
                        title: commit.summary, author: commit.author.name,
                        isLanded: try repository.isAncestor(head, of: tip)))
            case .branch(let name):
                guard let new = change.new else { continue }
                sighting.branches.append(
                    MovedBranch(
                        name: name, ref: change.name, old: change.old, new: new, landings: [],
                        definition: try definition(of: new)))
            case .tag(let name):
                guard let new = change.new, repository.contains(new) else { continue }
                sighting.tags.append(
                    MovedTag(name: name, ref: change.name, commit: new, definition: try definition(of: new)))
            case .other: continue
            }
        }
        var candidates = sighting.heads.map { ChangeHead(name: $0.key, head: $0.value) }
        // A branch that is deleted with its merge has landed all the same.
        for change in refChanges where change.new == nil {
            guard case .change(let name) = rules.kind(of: change.name), let head = change.old else { continue }
            if repository.contains(head) { candidates.append(ChangeHead(name: name, head: head)) }
        }
        for index in sighting.branches.indices where !candidates.isEmpty {
            let branch = sighting.branches[index]
            guard let old = branch.old, repository.contains(old) else { continue }
            sighting.branches[index].landings = try Landings.recognise(
                candidates, in: repository, from: old, to: branch.new)
        }
        let definers =
            sighting.changes.map(\.targetCommit) + sighting.branches.map { $0.definition ?? $0.new }
            + sighting.tags.map { $0.definition ?? $0.commit }
            + sighting.branches.compactMap { sighting.tips[$0.name] }
        for commit in Set(definers) {
            if let tree = try repository.treeID(of: commit, path: "workflows") { sighting.definitions[commit] = tree }
        }
        return sighting
    }
}
