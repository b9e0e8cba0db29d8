public import Pipeline

package import Git

/// The settings about trust: which branches are protected and what needs approval.
public struct TrustPolicy: Sendable, Equatable {
    /// Globs over branches that are protected in addition to the default branch.
    public let protected: [Glob]
    /// Globs over the name or e-mail address of a head's author. Changes by others need approval; empty: none do.
    public let allowedAuthors: [Glob]
    /// Globs over paths; a change that touches one needs approval.
    public let protectedPaths: [Glob]
    /// Why this daemon runs no changes at all; nil if it does.
    public var refusal: String?

    /// - Throws: ``GlobProblem`` for an invalid pattern.
    public init(
        protected: [String] = [], allowedAuthors: [String] = [], protectedPaths: [String] = []
    ) throws(GlobProblem) {
        self.protected = try Self.globs(protected)
        self.allowedAuthors = try Self.globs(allowedAuthors)
        self.protectedPaths = try Self.globs(protectedPaths)
    }

    private init() { (protected, allowedAuthors, protectedPaths) = ([], [], []) }

    /// The default branch is protected, and everybody's changes run.
    public static let standard = TrustPolicy()

    private static func globs(_ patterns: [String]) throws(GlobProblem) -> [Glob] {
        var globs: [Glob] = []
        for pattern in patterns { globs.append(try Glob(pattern)) }
        return globs
    }

    /// Whether a commit by this author needs no approval. Addresses are compared without case.
    ///
    /// A commit's author is text that its creator typed: this rule helps people who mean well, and is no protection.
    package func allows(author: Signature) -> Bool {
        allowedAuthors.isEmpty
            || allowedAuthors.contains { glob in
                glob.matches(author.name) || glob.matches(author.email) || glob.matches(author.email.lowercased())
            }
    }
}
