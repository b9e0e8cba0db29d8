import Results
import Store
import Foundation
import Git
import LandedChanges
import Pipeline

/// The facts of one observation of a repository, from which ``Decision`` is made.
struct RefObservation: Sendable {
    /// A change whose head is new.
    struct MovedChange: Sendable, Equatable {
        var name: String
        var ref: String
        var head: OID
        var target: String
        var targetCommit: OID
        var title: String
        var author: String
        /// Whether it is part of the target already, so that there is nothing to test.
        var isLanded: Bool
        /// Why it can't be read; nil if it can. Its run ends with this as the reason.
        var problem: String?
        /// What the forge says about it; nil where none is connected, or it has not said anything.
        var facts: ChangeFacts?
        /// The commit whose `workflows/` counts where that is not ``targetCommit``: the default branch's tip, for a target
        /// that is not protected.
        var definition: OID?
    }

    /// A change whose head is the same and about which the forge says something new.
    struct RefreshedChange: Sendable, Equatable {
        var change: MovedChange
        /// What runs were decided by before.
        var decided: ChangeFacts?
    }

    /// A branch that moved.
    struct MovedBranch: Sendable, Equatable {
        var name: String
        var ref: String
        var old: OID?
        var new: OID
        var landings: [LandedChange]
        /// The commit whose `workflows/` are used, if that is not ``new``: the tip of the default branch, for an
        /// unmerged branch.
        var definition: OID?
    }

    /// A new or moved tag.
    struct MovedTag: Sendable, Equatable {
        var name: String
        var ref: String
        var commit: OID
        /// The same as for a branch.
        var definition: OID?
    }

    /// A ref that leads to no commit, or to one whose history can't be read.
    struct UnreadableRef: Sendable, Equatable {
        var ref: String
        var id: OID
        var reason: String
    }

    /// The longest name of a ref, in bytes. Longer ones start nothing: the name is stored with each run and shown in
    /// each list.
    static let longestRef = 1_024

    var moved: [RefMove] = []
    var changes: [MovedChange] = []
    var refreshed: [RefreshedChange] = []
    /// What the forge says about changes that may be concerned, by their names.
    var facts: [String: ChangeFacts] = [:]
    var branches: [MovedBranch] = []
    /// The changes that landed in ``branches``, by index, as far as they are known before ``recognised(in:)``.
    var drafts: [Int: LandingDraft] = [:]
    var tags: [MovedTag] = []
    /// Names of changes whose ref was deleted.
    var closed: [String] = []
    /// The tip of each branch.
    var tips: [String: OID] = [:]
    /// The full ref of each change that has one; read only if a branch moved.
    var refs: [String: String] = [:]
    /// Heads of all changes that have a ref; read only if a branch moved.
    var heads: [String: OID] = [:]
    /// The target of changes for which no other is known.
    var defaultTarget: String?
    /// The tree id of `workflows/` for each commit that may define a run; no entry if the commit has none.
    var definitions: [OID: OID] = [:]
    /// Moved refs that can't be read. Each starts nothing, or a run that reports it; everything else continues.
    var unreadable: [UnreadableRef] = []

    /// Determines which changes landed in the moved branches.
    func recognised(in repository: WatchedRepository) async throws -> RefObservation {
        guard !drafts.isEmpty else { return self }
        var observation = self
        let merger = try await ChangeMerger.find()
        for (index, draft) in drafts {
            let confirmed = try await merger.confirmed(
                draft.questions, objects: repository.gitDirectory,
                scratch: ChangeMerger.scratchFolder(repository.store))
            observation.branches[index].landings = draft.landings(confirmed: confirmed)
        }
        observation.drafts = [:]
        return observation
    }

    /// The target of each moved change.
    var targets: [String: String] { Dictionary(changes.map { ($0.name, $0.target) }, uniquingKeysWith: { $1 }) }
}
