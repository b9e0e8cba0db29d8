import Archive
import Git
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

    /// The pull requests, and the branch of this very name.
    init(branch name: String) throws(GlobProblem) {
        try self.init(branchPatterns: [name.reduce(into: "") { $0 += "\\*?[]{}!,".contains($1) ? "\\\($1)" : "\($1)" }])
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

    /// The changes that a look at these moves asks about: all where a branch moved, which may have taken any in.
    func changes(in moves: [RefChange]) -> ChangeSelection {
        var names: [String] = []
        for move in moves {
            switch kind(of: move.name) {
            case .branch where move.new != nil: return .all
            case .change(let name): names.append(name)
            case .branch, .tag, .other: continue
            }
        }
        return .named(names)
    }

    public func kind(of ref: String) -> Kind {
        if let name = ChangeRefs.part(of: ref, after: "refs/heads/") {
            return globs.contains { $0.matches(name) } ? .change(name) : .branch(name)
        }
        if let name = ChangeRefs.part(of: ref, after: "refs/tags/") { return .tag(name) }
        for (prefix, suffix) in ChangeRefs.forges {
            guard let number = ChangeRefs.part(of: ref, after: prefix, before: suffix), !number.isEmpty else {
                continue
            }
            if !number.utf8.contains(UInt8(ascii: "/")) { return .change(number) }
        }
        return .other
    }

    /// What is between the two, compared as bytes like Git does: a combining character that follows a slash makes one
    /// character of both, and with `hasPrefix` `refs/heads/` would not be found any more.
    private static func part(of ref: String, after prefix: String, before suffix: String = "") -> String? {
        let bytes = ref.utf8
        guard bytes.count >= prefix.utf8.count + suffix.utf8.count, bytes.starts(with: prefix.utf8),
            bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        return String(Substring(bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
    }
}
