import Git

/// How a commit of a fixer is told from others.
enum FixCommit {
    static let name = "pipectl fix"
    /// Nobody's (RFC 2606): a fix has no author who could be written to.
    static let address = "noreply@pipectl.invalid"
    /// What its message ends with.
    static let trailer = "Pipectl-Fix"
    /// Where they are kept in the box's own store, below the name of the change.
    static let refs = "refs/pipectl/fixes/"

    /// How many commits at the top of a line of first parents are fixes.
    ///
    /// Whoever writes such a commit by hand only keeps the fixer from one's own change.
    static func count(from head: String, in store: Repository) throws -> Int {
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
