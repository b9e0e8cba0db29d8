package import Foundation
package import Pipeline
package import Results
import Signing

/// What is known of a run that makes or publishes a release, before its steps run.
package struct ReleaseBasis: Sendable {
    package var run: RunID
    package var repository: String
    package var workflow: String
    package var version: ReleaseVersion
    /// The tested commit, its tree and its time.
    package var commit: String
    package var tree: String
    package var committedAt: Date
    /// The commit and tree of `workflows/`, and the compiler.
    package var definition: Report.Definition
    package var parameters: [String: String]
    package var plan: Plan
    package var trust: Trust
    package var startedAt: Date
    /// The full ref that moved.
    package var ref: String
    /// The newest tag among the commit's ancestors.
    package var lastTag: String?
    /// The daemon's version, and an address or name of the build machine.
    package var pipectl: String
    package var builder: String

    package init(
        run: RunID, repository: String, workflow: String, version: ReleaseVersion, commit: String, tree: String,
        committedAt: Date, definition: Report.Definition, parameters: [String: String], plan: Plan, trust: Trust,
        startedAt: Date, ref: String, lastTag: String?, pipectl: String, builder: String
    ) {
        self.run = run
        self.repository = repository
        self.workflow = workflow
        self.version = version
        self.commit = commit
        self.tree = tree
        self.committedAt = committedAt
        self.definition = definition
        self.parameters = parameters
        self.plan = plan
        self.trust = trust
        self.startedAt = startedAt
        self.ref = ref
        self.lastTag = lastTag
        self.pipectl = pipectl
        self.builder = builder
    }
}

extension ReleaseBasis {
    /// Whether users of this release may have had an earlier one, so that its notes begin there.
    ///
    /// A candidate is not what the users of a version had, and nobody had a release that was never published or that its
    /// destinations refused.
    package func follows(_ earlier: ReleaseRecord) -> Bool {
        guard earlier.state != .yanked, earlier.workflow == workflow else { return false }
        if plan.publishes, earlier.publications.allSatisfy({ [.begun, .refused].contains($0.state) }) { return false }
        let (new, old) = (OrderedVersion(version.version), OrderedVersion(earlier.version))
        return new?.isCandidate == true || old?.isCandidate != true
    }
}

/// What a repository says about a release's commit.
package protocol ReleaseSources: Sendable {
    /// The repository's address for people, as in `https://HOST/OWNER/NAME`; nil if it is on this machine only.
    func address(_ basis: ReleaseBasis) async throws -> String?
    /// The changes that landed since the release before, then what was pushed without one; each oldest first.
    func landed(_ basis: ReleaseBasis) async throws -> LandedNotes
    /// The content of a file of the tested commit; nil if there is none, or if it is larger than 16 MiB.
    func file(_ path: String, _ basis: ReleaseBasis) async throws -> Data?
    /// The paths of the tested commit that end in one of these names, in Git's order.
    func paths(named names: Set<String>, _ basis: ReleaseBasis) async throws -> [String]
}

/// What landed since the release before.
package struct LandedNotes: Sendable, Equatable {
    package var list: [LandedNote]
    /// How many older commits are not in the list.
    package var older: Int

    package init(_ list: [LandedNote], older: Int = 0) { (self.list, self.older) = (list, older) }
}

/// A change that landed, as release notes tell it. All text is the author's.
package struct LandedNote: Sendable, Equatable {
    /// Its number, or its branch; of a commit that was pushed without a change, `commit` and its id.
    package var change: String
    package var title: String
    package var author: String
    /// The numbers of the issues that its commits name.
    package var issues: [Int]
    /// The crash or failure that it mends, as its reporters know it; nil: it mends none that was reported.
    package var fixes: String?

    package init(change: String, title: String, author: String, issues: [Int], fixes: String? = nil) {
        self.change = change
        self.title = title
        self.author = author
        self.issues = issues
        self.fixes = fixes
    }
}
