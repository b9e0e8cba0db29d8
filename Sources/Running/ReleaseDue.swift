import Delivery
import Git
import Pipeline
import Preparing
import Results
import Store
import Watching

/// Finds out before a run's steps whether its commit can have its version, and whether a release is due at all.
struct ReleaseDue: Sendable {
    let index: Store.Index

    fileprivate static let next = "raise the version for the next release"

    /// The run as it was prepared; without its release if its version was released, and the branch has moved on since.
    ///
    /// - Throws: ``EarlyVerdict`` if another commit has the version, or if nothing is left of the run.
    func settled(
        _ prepared: RunPreparation, _ request: RunRequest, in repository: WatchedRepository
    ) async throws -> RunPreparation {
        guard prepared.plan.release != nil, let version = prepared.version?.version else { return prepared }
        let (holding, tested) = (VersionHolding(index), prepared.tested)
        // Earlier versions of pipectl kept the v of a version in a file.
        for name in [version, "v\(version)"] {
            guard let made = try await index.release(name, of: request.repository), made.commit != tested.hex,
                let obstacle = try await holding.obstacle(to: tested.hex, made, ref: request.ref)
            else { continue }
            guard request.followsBranch, [.sealed, .published].contains(made.state),
                try await made.isBefore(tested, in: repository)
            else {
                throw EarlyVerdict(verdict: .failed, reason: obstacle, tested: tested)
            }
            var rest = prepared
            try rest.leaveReleaseOut(because: made.whyNoneIsDue)
            return rest
        }
        guard let tagged = prepared.taggedBefore else { return prepared }
        var rest = prepared
        try rest.leaveReleaseOut(
            because: "the tag of version \(version) is at commit \(tagged.hex.prefix(10)); \(Self.next)")
        return rest
    }
}

extension ReleaseRecord {
    /// Why a later commit with its version is not released, and what to do.
    fileprivate var whyNoneIsDue: String {
        let (run, next) = ("run \(run) (commit \(commit.prefix(10)))", ReleaseDue.next)
        guard state == .published || publications.isEmpty else {
            return "version \(version) is the release of \(run), which is not published everywhere: "
                + "`pipectl rerun \(self.run)` goes on with it; \(next)"
        }
        return "version \(version) was \(publications.isEmpty ? "made" : "released") by \(run); \(next)"
    }

    /// Whether its commit is an ancestor of `commit`.
    fileprivate func isBefore(_ commit: OID, in repository: WatchedRepository) async throws -> Bool {
        guard let own = OID(hex: self.commit) else { return false }
        return try await withRepository(at: repository.store) { store in
            try store.contains(own) && store.isAncestor(own, of: commit)
        }
    }
}
