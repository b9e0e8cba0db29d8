public import Pipeline

/// Which refs are changes: pull requests as forges publish them, and branches that match a pattern.
public struct ChangeRefs: Sendable, Equatable {
    /// Globs over branch names whose branches are changes, for a repository without a forge: `agent/*`.
    public var branchPatterns: [String]
    private let globs: [Glob]

    /// - Throws: ``GlobProblem`` for a pattern that can't be read.
    public init(branchPatterns: [String] = []) throws(GlobProblem) {
        self.branchPatterns = branchPatterns
        var globs: [Glob] = []
        for pattern in branchPatterns { globs.append(try Glob(pattern)) }
        self.globs = globs
    }

    private init() { (branchPatterns, globs) = ([], []) }

    /// Pull requests only; no branch is a change.
    static let standard = ChangeRefs()

    /// What a ref stands for.
    public enum Kind: Sendable, Equatable {
        /// A change, by the number that the forge gave it or the name of its branch.
        case change(String)
        case branch(String)
        case tag(String)
        case other
    }

    /// The folder and the last component of each forge's refs: GitHub, Gitea and Forgejo; GitLab; Bitbucket.
    static let forges = [
        ("refs/pull/", "/head"), ("refs/merge-requests/", "/head"), ("refs/pull-requests/", "/from"),
    ]

    /// What our own mirror of a remote fetches.
    static let refspecs =
        ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        + forges.map { "+\($0.0)*\($0.1):\($0.0)*\($0.1)" }

    public func kind(of ref: String) -> Kind {
        if ref.hasPrefix("refs/heads/") {
            let name = String(ref.dropFirst("refs/heads/".count))
            return globs.contains { $0.matches(name) } ? .change(name) : .branch(name)
        }
        if ref.hasPrefix("refs/tags/") { return .tag(String(ref.dropFirst("refs/tags/".count))) }
        for (prefix, suffix) in ChangeRefs.forges where ref.hasPrefix(prefix) && ref.hasSuffix(suffix) {
            let number = ref.dropFirst(prefix.count).dropLast(suffix.count)
            if !number.isEmpty && !number.contains("/") { return .change(String(number)) }
        }
        return .other
    }
}
