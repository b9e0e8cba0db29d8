package import Control
package import Store
package import Git
import Results
public import Pipeline

/// Decides which refs are changes: pull requests as forges publish them, and branches that match a pattern.
public struct ChangeRefs: Sendable, Equatable {
    /// Globs over the names of branches that are changes, for a repository without a forge: `agent/*`.
    public var branchPatterns: [String]
    private let globs: [Glob]
    /// The folder of the forge's refs whose changes have only their number as a name, such as `refs/pull/`. Empty: none
    /// has, since the refs of several forges existed at the first observation. Nil: not decided yet, so all have.
    ///
    /// A number means the same change for as long as the daemon knows the repository, even if refs of another form are
    /// pushed later.
    package var numbered: String?
    /// Whether the repository is connected with its forge. There, a pull request stands for the work on a task; elsewhere
    /// its branch does.
    package var isAtForge = false

    /// - Throws: ``GlobProblem`` for an invalid pattern.
    public init(branchPatterns: [String] = []) throws(GlobProblem) {
        self.branchPatterns = branchPatterns
        var globs: [Glob] = []
        for pattern in branchPatterns { globs.append(try Glob(pattern)) }
        self.globs = globs
    }

    /// The pull requests, and the branch of this name as a change.
    package init(branch name: String) throws(GlobProblem) {
        let name = ChangeRefs.part(of: name, after: ChangeRefs.heads) ?? name
        try self.init(branchPatterns: [name.reduce(into: "") { $0 += "\\*?[]{}!,".contains($1) ? "\\\($1)" : "\($1)" }])
    }

    private init() { (branchPatterns, globs) = ([], []) }

    /// Pull requests only; no branch is a change.
    package static let standard = ChangeRefs()

    /// What a ref stands for.
    public enum Kind: Sendable, Equatable {
        /// A change, by the number that the forge gave it or the name of its branch.
        case change(String)
        case branch(String)
        case tag(String)
        case other
    }

    /// The folder and the last component of each forge's refs: GitHub, Gitea and Forgejo; GitLab; Bitbucket.
    package static let forges = [
        ("refs/pull/", "/head"), ("refs/merge-requests/", "/head"), ("refs/pull-requests/", "/from"),
    ]

    /// The refspecs with which pipectl's mirror of a remote is fetched.
    static let refspecs =
        ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        + forges.map { "+\($0.0)*\($0.1):\($0.0)*\($0.1)" }

    /// The changes to read after these moves: all of them if a branch moved, since any change may have landed in it.
    package func changes(in moves: [RefChange]) -> ChangeSelection {
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

    /// Decides from its full name what a ref is.
    public func kind(of ref: String) -> Kind {
        if let name = ChangeRefs.part(of: ref, after: "refs/heads/") {
            let isTask = !isAtForge && name.hasPrefix(TaskRecord.branchPrefix)
            return isTask || globs.contains { $0.matches(name) } ? .change(Self.name(ofBranch: name)) : .branch(name)
        }
        if let name = ChangeRefs.part(of: ref, after: "refs/tags/") { return .tag(name) }
        for (prefix, suffix) in ChangeRefs.forges {
            guard let number = ChangeRefs.part(of: ref, after: prefix, before: suffix), !number.isEmpty else {
                continue
            }
            if number.utf8.contains(UInt8(ascii: "/")) { continue }
            return .change(numbered == nil || numbered == prefix ? number : Self.longName(prefix, number))
        }
        return .other
    }

    /// `pull/7` for `refs/pull/7/head`.
    private static func longName(_ prefix: String, _ number: String) -> String {
        "\(prefix.dropFirst("refs/".count))\(number)"
    }

    private static let heads = "heads/"

    /// The name of a branch's change. It differs from every name that a forge's change could have.
    private static func name(ofBranch name: String) -> String {
        let isForges = forges.contains { part(of: "refs/\(name)", after: $0.0) != nil }
        let isNumber = name.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isForges || isNumber || part(of: name, after: heads) != nil ? heads + name : name
    }

    /// The value for ``numbered`` according to the refs; nil while there is no ref of any forge.
    package func numbering(by refs: RefTable) -> String? {
        if let numbered { return numbered }
        let used = Self.forges.filter { prefix, _ in
            refs.entries(under: prefix).contains { ref, _ in if case .change = kind(of: ref) { true } else { false } }
        }
        return used.count > 1 ? "" : used.first?.0
    }

    /// A change that a person may mean.
    package struct Meaning: Sendable, Equatable {
        /// The change's name in pipectl.
        package var name: String
        package var ref: String
        /// An unambiguous name: `pull/7`.
        package var clear: String
    }

    /// The changes of forges that `7`, `pull/7` or `refs/pull/7/head` may mean; a number may mean one of each forge. It
    /// does not check whether they exist.
    package func meanings(of text: String) -> [Meaning] {
        for (prefix, suffix) in Self.forges {
            let number =
                Self.part(of: text, after: prefix, before: suffix) ?? Self.part(of: "refs/\(text)", after: prefix)
            guard let number else { continue }
            return meaning(prefix, number, suffix).map { [$0] } ?? []
        }
        return Self.forges.compactMap { meaning($0.0, text, $0.1) }
    }

    private func meaning(_ prefix: String, _ number: String, _ suffix: String) -> Meaning? {
        let ref = prefix + number + suffix
        guard case .change(let name) = kind(of: ref) else { return nil }
        return Meaning(name: name, ref: ref, clear: Self.longName(prefix, number))
    }

    /// The error that lists the changes that a number may mean, so that a person can choose.
    package static func ambiguous(_ text: String, in repository: String, _ meanings: [Meaning]) -> RequestError {
        let names = meanings.map { "#\($0.clear)" }.joined(separator: " and ")
        return RequestError(
            .ambiguousChange, "#\(text) matches \(meanings.count) changes of \(repository): \(names); name one")
    }

    /// The part between the two, compared as bytes like in Git. In Swift a combining character after a slash forms one
    /// character with it, so `hasPrefix` would not find `refs/heads/`.
    private static func part(of ref: String, after prefix: String, before suffix: String = "") -> String? {
        let bytes = ref.utf8
        guard bytes.count >= prefix.utf8.count + suffix.utf8.count, bytes.starts(with: prefix.utf8),
            bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        else { return nil }
        return String(Substring(bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)))
    }
}
