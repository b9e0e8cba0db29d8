package import Git

/// Tells the commits of a fixer from others.
package enum FixCommit {
    package static let name = "pipectl fix"
    /// An address that belongs to nobody (RFC 2606): a fix has no author who could get mail.
    package static let address = "noreply@pipectl.invalid"
    /// The trailer at the end of its message.
    package static let trailer = "Pipectl-Fix"
    /// The refs of fixes in the daemon's own store, below the name of the change.
    package static let refs = "refs/pipectl/fixes/"

    /// The number of commits at the top of the first-parent history that are fixes.
    ///
    /// Somebody who imitates such a commit only keeps the fixer from their own change.
    package static func count(from head: String, in store: Repository) throws -> Int {
        guard var next = OID(hex: head) else { return 0 }
        var count = 0
        while count < 100 {
            let commit = try store.commit(next)
            guard commit.author.email == address, let parent = commit.parents.first else { break }
            (next, count) = (parent, count + 1)
        }
        return count
    }
}
