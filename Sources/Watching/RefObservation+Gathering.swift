import Results
import Store
import Foundation
import Git
import LandedChanges
import Pipeline

extension RefObservation {
    /// Reads all facts that the decision about `refChanges` needs.
    ///
    /// A person who may push can push a ref that leads to no commit, or to an unreadable one. Each is recorded in
    /// ``unreadable``; only errors of the repository as a whole are thrown.
    ///
    /// - Parameter file: A file that caches commits from one observation to the next.
    package static func gather(
        _ repository: Repository, snapshot: RefSnapshot, refChanges: [RefChange], rules: TrustRules,
        forge: ChangeNews = ChangeNews(), keeping file: String
    ) throws -> RefObservation {
        var gathering = RefObservationGathering(repository: repository, snapshot: snapshot, rules: rules)
        gathering.observation.facts = forge.facts
        gathering.readTips(refChanges)
        for change in refChanges { gathering.read(change) }
        for (ref, record) in forge.undecided { gathering.refresh(record, ref) }
        gathering.recogniseLandings(refChanges, keeping: file)
        gathering.readDefinitions()
        return gathering.observation
    }
}

/// The facts of one observation while they are read.
private struct RefObservationGathering {
    let repository: Repository
    let snapshot: RefSnapshot
    let rules: TrustRules
    let protected: ProtectedBranches
    var observation = RefObservation()

    init(repository: Repository, snapshot: RefSnapshot, rules: TrustRules) {
        self.repository = repository
        self.snapshot = snapshot
        self.rules = rules
        protected = ProtectedBranches.read(snapshot, rules)
        observation.defaultTarget = protected.target?.branch
    }

    /// Reads the tips of branches and the heads of changes.
    mutating func readTips(_ refChanges: [RefChange]) {
        // The heads of all changes matter only if a branch moved: some may have landed in it, others are stale now.
        let movesBranch = refChanges.contains {
            if case .branch = rules.changeRefs.kind(of: $0.name) { $0.new != nil } else { false }
        }
        let relevant = movesBranch ? snapshot.refs[...] : snapshot.refs.entries(under: "refs/heads/")
        for (ref, commit) in relevant {
            switch rules.changeRefs.kind(of: ref) {
            case .branch(let name): observation.tips[name] = commit
            case .change(let name):
                observation.heads[name] = commit
                observation.refs[name] = ref
            case .tag, .other: continue
            }
        }
    }

    mutating func read(_ change: RefChange) {
        observation.moved.append(RefMove(ref: change.name, old: change.old?.hex, new: change.new?.hex))
        let kind = rules.changeRefs.kind(of: change.name)
        guard let new = change.new else {
            if case .change(let name) = kind { observation.closed.append(name) }
            return
        }
        guard change.name.utf8.count <= RefObservation.longestRef else {
            let start = change.name.prefix(100)
            note(change.name, new, "its name is longer than \(RefObservation.longestRef) bytes: \(start)…")
            return
        }
        do {
            switch kind {
            case .change(let name):
                if let found = readChange(name, change.name, new) { observation.changes.append(found) }
            case .branch(let name):
                let definition = try definition(of: new)
                observation.branches.append(
                    RefObservation.MovedBranch(
                        name: name, ref: change.name, old: change.old, new: new, landings: [], definition: definition))
            case .tag(let name):
                let definition = try definition(of: new)
                observation.tags.append(
                    RefObservation.MovedTag(name: name, ref: change.name, commit: new, definition: definition))
            case .other: return
            }
        } catch {
            note(change.name, new, "\(error)")
        }
    }

    /// Reads a change that did not move, about which the forge says something new.
    mutating func refresh(_ record: ForgeChangeRecord, _ ref: String) {
        guard let head = snapshot.refs[ref], let change = readChange(record.name, ref, head) else { return }
        observation.heads[record.name] = head
        observation.refreshed.append(RefObservation.RefreshedChange(change: change, decided: record.decided))
    }

    private mutating func readChange(_ name: String, _ ref: String, _ head: OID) -> RefObservation.MovedChange? {
        let facts = observation.facts[name]
        guard let target = facts?.target ?? observation.defaultTarget, let tip = observation.tips[target] else {
            return nil
        }
        var change = RefObservation.MovedChange(
            name: name, ref: ref, head: head, target: target, targetCommit: tip, title: "", author: "",
            isLanded: false)
        do {
            let commit = try repository.commit(head)
            (change.title, change.author) = (commit.summary, commit.author.name)
            if let facts { (change.title, change.author, change.facts) = (facts.title, facts.author, facts) }
            change.isLanded = try repository.isAncestor(head, of: tip)
            // Whoever opens a change chooses its target, and must not choose the rules that it is judged by.
            if target != observation.defaultTarget { change.definition = try definition(of: tip) }
            _ = try repository.mergeBase(head, tip)
        } catch {
            change.problem = "\(error)"
            note(ref, head, "\(error)")
        }
        return change
    }

    /// The commit whose workflows run for `commit`; nil: its own.
    ///
    /// Unmerged code must not bring the rules by which it is judged.
    private func definition(of commit: OID) throws -> OID? {
        _ = try repository.commit(commit)
        guard try protected.holder(of: commit, in: repository) == nil else { return nil }
        // A gap in the history is found here once, and not by each of its runs.
        if let tip = protected.defaultTip { _ = try repository.mergeBase(commit, tip) }
        return protected.defaultTip
    }

    mutating func recogniseLandings(_ refChanges: [RefChange], keeping file: String) {
        var candidates = observation.heads.map { ChangeHead(name: $0.key, head: $0.value) }
        // A branch that is deleted by its merge has still landed.
        for change in refChanges where change.new == nil {
            guard case .change(let name) = rules.changeRefs.kind(of: change.name), let head = change.old else {
                continue
            }
            if repository.contains(head) { candidates.append(ChangeHead(name: name, head: head)) }
        }
        for index in observation.branches.indices where !candidates.isEmpty {
            let branch = observation.branches[index]
            guard let old = branch.old, repository.contains(old) else { continue }
            do {
                // The file caches one branch only; another branch's history would replace it.
                let isTarget = branch.name == observation.defaultTarget
                observation.drafts[index] = try Landings.draft(
                    candidates, in: repository, from: old, to: branch.new, keeping: isTarget ? file : nil)
            } catch {
                note(branch.ref, branch.new, "its changes can't be determined: \(error)")
            }
        }
    }

    mutating func readDefinitions() {
        let definers =
            (observation.changes + observation.refreshed.map(\.change)).map { $0.definition ?? $0.targetCommit }
            + observation.branches.map { $0.definition ?? $0.new }
            + observation.tags.map { $0.definition ?? $0.commit }
            + observation.branches.compactMap { observation.tips[$0.name] }
        for commit in Set(definers) {
            do {
                guard let tree = try repository.treeID(of: commit, path: "workflows") else { continue }
                observation.definitions[commit] = tree
            } catch {
                let ref =
                    observation.branches.first { $0.new == commit }?.ref ?? observation.defaultTarget ?? commit.hex
                note(ref, commit, "its workflows/ can't be read: \(error)")
            }
        }
    }

    private mutating func note(_ ref: String, _ id: OID, _ reason: String) {
        let isKnown = observation.unreadable.contains { $0.ref == ref }
        if !isKnown { observation.unreadable.append(RefObservation.UnreadableRef(ref: ref, id: id, reason: reason)) }
    }
}
