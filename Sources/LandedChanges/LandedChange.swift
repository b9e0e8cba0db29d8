package import Git

/// A change whose head may have landed: an open pull request, or one that was open before.
package struct ChangeHead: Sendable, Hashable, Codable {
    /// The caller's name for it: "123", "refs/pull/123/head". Its digits are compared with numbers in commit messages.
    package var name: String
    /// The newest commit of the change.
    package var head: OID

    package init(name: String, head: OID) {
        self.name = name
        self.head = head
    }
}

/// A change whose work is in the target, and how it got there.
package struct LandedChange: Sendable, Equatable, Codable {
    /// How a change landed.
    package enum How: String, Sendable, Codable, CaseIterable {
        /// A merge commit has the head as its parent.
        case merge
        /// The head is on the target's line of first parents.
        case fastForward
        /// One commit has the effect of the whole change.
        case squash
        /// A row of commits repeats the change's own commits one by one.
        case rebase
        /// The head is part of another change, which landed as one commit or as a row of commits.
        case inside
    }

    /// The change's name: ``ChangeHead/name``.
    package var change: String
    /// The change's head.
    package var head: OID
    /// The commit on the target that completed it.
    package var commit: OID
    /// How it landed.
    package var how: How

    package init(change: String, head: OID, commit: OID, how: How) {
        self.change = change
        self.head = head
        self.commit = commit
        self.how = how
    }
}

/// Recognises changes in a target's history by their content, however the forge landed them.
package enum Landings {
    /// What is known, without merging, about `changes` when the target went from `old` to `new` (nil: its whole
    /// history).
    ///
    /// A claim needs ancestry, equal differences or an equal merge result; a commit message alone is not enough. Not
    /// claimed are changes that landed in parts, that were edited while they landed, or whose head moved afterwards,
    /// and heads that `old` already contained. Heads that are missing from the repository are ignored.
    ///
    /// - Parameter file: A file that keeps the commits that were read, so that later calls for the same target read
    ///   only new ones. It is made if it is missing or damaged. The result is the same without it.
    package static func draft(
        _ changes: [ChangeHead], in repository: Repository, from old: OID?, to new: OID, keeping file: String? = nil
    ) throws(GitError) -> LandingDraft {
        if let old, let draft = try LandingStretch(repository, from: old, to: new)?.draft(changes) { return draft }
        let known = file.flatMap { KnownCommits(file: $0) } ?? KnownCommits()
        let index = try LandingIndex(repository, from: old, to: new, known)
        let draft = try index.draft(changes)
        if let file { index.knownCommits.keep(in: file, for: changes.map(\.head)) }
        return draft
    }
}
