import Store
import Foundation
import Git
import Pipeline

/// What one look saw: plain facts, gathered with the repository in hand, from which ``Decision`` is made.
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
        /// Already part of the target: nothing to test.
        var isLanded: Bool
        /// Why it can't be read, where it can't; its run ends with that as its verdict.
        var problem: String?
    }

    /// A branch that points somewhere else than before.
    struct MovedBranch: Sendable, Equatable {
        var name: String
        var ref: String
        var old: OID?
        var new: OID
        var landings: [LandedChange]
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

    /// A ref that leads to no commit, or to one whose history can't be read.
    struct UnreadableRef: Sendable, Equatable {
        var ref: String
        var id: OID
        var reason: String
    }

    /// Bytes of a ref's name. Longer ones start nothing: their name would be kept with each run and shown in each list.
    static let longestRef = 1_024

    var moved: [RefMove] = []
    var changes: [MovedChange] = []
    var branches: [MovedBranch] = []
    /// What is known of the changes that landed in ``branches``, by their place in there, before ``recognised(in:)``.
    var drafts: [Int: LandingDraft] = [:]
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
    /// What moved and can't be read; it starts nothing, or a run that says so, and everything else goes on.
    var unreadable: [UnreadableRef] = []

    /// Finds out which changes landed in the branches that moved.
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

    /// The target of each change that moved.
    var targets: [String: String] { Dictionary(changes.map { ($0.name, $0.target) }, uniquingKeysWith: { $1 }) }
}
