/// A change whose head may have landed: an open pull request, or one that once was.
public struct ChangeHead: Sendable, Hashable, Codable {
    /// What the caller calls it: "123", "refs/pull/123/head". Its digits are compared with what commit messages name.
    public var name: String
    public var head: OID

    public init(name: String, head: OID) {
        self.name = name
        self.head = head
    }
}

/// A change whose work is in the target, and what put it there.
public struct Landing: Sendable, Equatable, Codable {
    public enum How: String, Sendable, Codable, CaseIterable {
        /// A merge commit brought the head itself.
        case merge
        /// The head itself is on the target's line of first parents.
        case fastForward
        /// One commit has the effect of the whole change.
        case squash
        /// A row of commits repeats the change's own, one by one.
        case rebase
        /// Its head is inside another change, which landed as one commit or as a row.
        case inside
    }

    public var change: String
    public var head: OID
    /// The commit on the target that completed it.
    public var commit: OID
    public var how: How

    public init(change: String, head: OID, commit: OID, how: How) {
        self.change = change
        self.head = head
        self.commit = commit
        self.how = how
    }
}

/// Recognition of changes in a target's history by their content, whatever the forge did to land them.
public enum Landings {
    /// Which of `changes` landed in the target when it went from `old` to `new` (`nil`: in all its history), in order,
    /// by libgit2's merges. ``draft(_:in:from:to:)`` leaves the merges to others.
    public static func recognise(
        _ changes: [ChangeHead], in repository: Repository, from old: OID?, to new: OID
    ) throws(GitError) -> [Landing] {
        try draft(changes, in: repository, from: old, to: new).landings { question throws(GitError) in
            do throws(GitError) {
                return try repository.confirms(question)
            } catch {
                guard error.isAboutObjects else { throw error }
                return false
            }
        }
    }

    /// What is known of `changes` in the target's way from `old` to `new` (`nil`: all its history) without a merge.
    ///
    /// A claim rests on ancestry, on equal differences or on an equal merge result, never on a commit message alone. A
    /// change that landed in parts, that was edited while it landed, or whose head moved afterwards is not claimed, nor
    /// is a head that `old` already contained. Heads missing from the store are passed over.
    ///
    /// - Parameter file: Where the commits that were read are kept, for later calls about the same target to read the new
    ///   ones only. It is made when it is missing and made anew when it is damaged; what is found is the same without it.
    public static func draft(
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
