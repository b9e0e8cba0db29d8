import Git

@testable import LandedChanges

extension Landings {
    /// Which of `changes` landed when the target went from `old` to `new` (nil: in its whole history), in order, with
    /// merges by libgit2.
    static func recognise(
        _ changes: [ChangeHead], in repository: Repository, from old: OID?, to new: OID
    ) throws(GitError) -> [LandedChange] {
        try draft(changes, in: repository, from: old, to: new).landings { question throws(GitError) in
            do throws(GitError) {
                return try repository.confirms(question)
            } catch {
                guard error.isAboutObjects else { throw error }
                return false
            }
        }
    }
}
