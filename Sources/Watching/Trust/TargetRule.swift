package import Results
package import Git
import Pipeline

/// Decides which branch is the target of a repository's changes.
///
/// A push can create branches with any name, so existing names decide nothing: the target is the branch that a person
/// named, or the one that the repository's `HEAD` named at the first observation.
package struct TargetRule: Sendable, Equatable {
    /// The branch that `--target` names.
    package var named: String?
    /// The branch that the index remembers.
    var remembered: TargetBranch?
    /// A branch that `--target` named before it existed: any pusher may have created it since.
    package var missing: String?

    /// The target, if it exists; nil if none is known.
    package func branch(in refs: RefTable) -> TargetBranch? {
        if let named, named != missing, refs["refs/heads/\(named)"] != nil { return TargetBranch(named, .person) }
        guard let remembered, refs["refs/heads/\(remembered.name)"] != nil else { return nil }
        return remembered
    }

    /// Names that are tried if `HEAD` is unknown. Such a guess only allows testing.
    private static let usual = ["main", "master", "trunk", "develop"]

    /// The target that a first observation remembers: the branch of `HEAD`, otherwise a guess that protects nothing.
    /// Nil while there is no branch at all: the first push then goes to a repository about which nothing is known.
    ///
    /// - Parameter head: ``Repository/mainBranch()``.
    package static func first(head: String?, refs: RefTable, rules: ChangeRefs) -> TargetBranch? {
        func isBranch(_ name: String) -> Bool {
            // A branch that is a change is never the target, even while it is checked out.
            guard case .branch = rules.kind(of: "refs/heads/\(name)") else { return false }
            return refs["refs/heads/\(name)"] != nil
        }
        if let head, isBranch(head) { return TargetBranch(head, .head) }
        guard refs.entries(under: "refs/heads/").contains(where: { _ in true }) else { return nil }
        return TargetBranch(usual.first(where: isBranch) ?? "", .guess)
    }

    /// What a person must decide, as a sentence with the command; nil if nothing.
    ///
    /// - Parameters:
    ///   - repository: The repository's name in pipectl.
    ///   - head: The branch that `HEAD` names now.
    package func advice(for repository: String, head: String?, refs: RefTable) -> String? {
        func command(_ branch: String) -> String {
            "`pipectl protect \(branch.shellQuoted) --repository \(repository.shellQuoted)`"
        }
        let branch = branch(in: refs)
        if let named, branch?.name != named {
            if named == missing, refs["refs/heads/\(named)"] != nil {
                return
                    "branch \(named) of \(repository), given by --target, is newer than the option. If it is the right one, protect it: \(command(named))"
            }
            let instead = branch.map { "the target is \($0.name)" } ?? "its target branch is not known"
            return "\(repository) has no branch \(named), given by --target; \(instead)"
        }
        guard let branch else {
            if let name = remembered?.name, !name.isEmpty {
                return
                    "the protected branch \(name) of \(repository) no longer exists. Changes are not tested and runs get no secrets until you name another one: \(command(head ?? "BRANCH"))"
            }
            guard remembered != nil else { return nil }
            return
                "HEAD of \(repository) named no branch at the first look, so its protected branch is not known. Changes are not tested and runs get no secrets until you name it: \(command(head ?? "BRANCH"))"
        }
        if !branch.isProtected {
            return
                "HEAD of \(repository) named no branch at the first look, so its protected branch is not known. Changes are tested with \(branch.name), which is a guess, and runs get no secrets until you name it: \(command(branch.name))"
        }
        if branch.source == .head, let head, head != branch.name {
            return
                "HEAD of \(repository) now names \(head); \(branch.name) stays the protected branch. To change it: \(command(head)); to keep it: \(command(branch.name))"
        }
        return nil
    }
}
