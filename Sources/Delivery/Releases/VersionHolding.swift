package import Results
package import Store

/// Finds out whether a release keeps its version from other commits.
package struct VersionHolding: Sendable {
    private let index: Store.Index

    package init(_ index: Store.Index) { self.index = index }

    /// Why a commit can't have the version of a release; nil if it may replace it: a draft of another commit that was
    /// published nowhere, and with which no run works any more.
    ///
    /// - Parameters:
    ///   - made: The release that has the version.
    ///   - ref: The full ref that started the run.
    package func obstacle(to commit: String, _ made: ReleaseRecord, ref: String) async throws -> String? {
        let holder = "version \(made.version) is the one of commit \(made.commit.prefix(10))"
        if made.isUnseen, made.commit != commit {
            let filter = RunFilter(
                repository: made.repository, workflow: made.workflow, commitPrefix: made.commit,
                states: [.queued, .running], limit: 20)
            // One that is being stopped for a newer run makes nothing more of it.
            let runs = try await index.runs(filter).filter { $0.supersededBy == nil }
            guard let run = runs.first?.id else { return nil }
            let isAsked = try await index.run(run)?.approvals.contains { $0.decision == nil } == true
            return isAsked
                ? "\(holder), and run \(run) waits for approval with it: reject it or raise the version"
                : "\(holder), and run \(run) is not over: wait for its end or raise the version"
        }
        let which = made.state == .yanked ? "was withdrawn" : "run \(made.run) of \(made.workflow) made"
        if ref == "refs/tags/\(made.tag)", made.commit != commit {
            return "the tag \(made.tag) was moved: \(holder), which \(which); a new version needs a new tag"
        }
        return "\(holder), which \(which): raise the version"
    }
}

extension ReleaseRecord {
    /// Whether it is a draft that was brought nowhere.
    var isUnseen: Bool { state == .draft && publications.isEmpty }
}
