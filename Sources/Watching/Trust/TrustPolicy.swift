package import Results
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
    /// Who may bring code without a person's word, where a forge says who somebody is.
    public var contributors = ContributorRule.contributors
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

    /// Why a person is asked about code that somebody at a connected forge brings; nil if nobody is.
    ///
    /// Allowed authors are logins here: what a commit says about its author is not asked where the forge knows better.
    package func objection(to contributor: Contributor) -> String? {
        let name = contributor.login.isEmpty ? "somebody" : contributor.login
        if contributor.standing == .writer { return nil }
        if contributor.standing == .unknown {
            return contributors == .anyone && allowedAuthors.isEmpty ? nil : "the forge has not said who pushed it"
        }
        if !allowedAuthors.isEmpty {
            let isAllowed = allowedAuthors.contains { $0.matches(contributor.login) }
            return isAllowed ? nil : "\(name) may not push to the repository and is not among the allowed authors"
        }
        switch (contributors, contributor.standing) {
        case (.writers, _): return "\(name) may not push to the repository"
        case (.contributors, .newcomer): return "\(name) has no change merged yet"
        case (.contributors, _), (.anyone, _): return nil
        }
    }
}

/// Who may bring code without a person's word, where a forge says who somebody is.
public enum ContributorRule: String, Sendable, CaseIterable {
    /// Those who may push.
    case writers
    /// They, and those who have had a change merged.
    case contributors
    /// Everybody.
    case anyone
}
