package import Results
package import Git
import Pipeline

/// Which branch the changes of a repository want into.
///
/// A push can create branches of any name, so the names that exist decide nothing: the branch is the one that a person
/// named, or the one that the repository's `HEAD` named at the first look.
package struct TargetRule: Sendable, Equatable {
    /// The branch that `--target` names.
    package var named: String?
    /// What the index remembers.
    var remembered: TargetBranch?
    /// A branch that `--target` named when it was not there: whoever may push could make it since.
    package var missing: String?

    /// The branch, if it exists; nil where none is known.
    package func branch(in refs: RefTable) -> TargetBranch? {
        if let named, named != missing, refs["refs/heads/\(named)"] != nil { return TargetBranch(named, .person) }
        guard let remembered, refs["refs/heads/\(remembered.name)"] != nil else { return nil }
        return remembered
    }

    /// Names that a branch without a known `HEAD` is guessed by, for tests only.
    private static let usual = ["main", "master", "trunk", "develop"]

    /// What a first look remembers: the branch of `HEAD`, else a guess that protects nothing. Nil while there is no
    /// branch at all: whoever pushes the first one does so to a repository that nothing is known of.
    ///
    /// - Parameter head: ``Repository/mainBranch()``.
    package static func first(head: String?, refs: RefTable, rules: ChangeRefs) -> TargetBranch? {
        func isBranch(_ name: String) -> Bool {
            // A branch that is a change is nobody's target, also while it is checked out.
            guard case .branch = rules.kind(of: "refs/heads/\(name)") else { return false }
            return refs["refs/heads/\(name)"] != nil
        }
        if let head, isBranch(head) { return TargetBranch(head, .head) }
        guard refs.entries(under: "refs/heads/").contains(where: { _ in true }) else { return nil }
        return TargetBranch(usual.first(where: isBranch) ?? "", .guess)
    }

    /// What a person must decide, as a sentence with the command; nil where all is clear.
    ///
    /// - Parameters:
    ///   - repository: Its name on the box.
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
