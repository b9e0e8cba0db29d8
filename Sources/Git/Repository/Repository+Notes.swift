internal import CGit
internal import Foundation

extension Repository {
    /// The note in `ref` (such as "refs/notes/pipectl") about an object; nil if there is none.
    public func note(for id: OID, ref: String) throws(GitError) -> String? {
        var (raw, out): (git_oid, OpaquePointer?) = (id.raw, nil)
        guard try gitFinds("git_note_read", { git_note_read(&out, pointer, ref, &raw) }), let out else { return nil }
        defer { git_note_free(out) }
        return git_note_message(out).map { String(cString: $0) }
    }

    /// Writes or replaces the note about an object, and keeps all notes that others write at the same time.
    ///
    /// `git_note_create` can lose updates, because it writes the ref without comparing it with the value that it read.
    /// Here the new notes commit is made first, and the ref moves only if it still is that commit's parent. Otherwise
    /// everything is repeated.
    ///
    /// - Throws: `.locked` if the ref is locked for 5 seconds, for example by the lock file of a dead process.
    public func setNote(_ text: String, for id: OID, ref: String, author: Signature) throws(GitError) {
        let deadline = ContinuousClock.now + .seconds(5)
        while true {
            do {
                let old = try self.ref(ref)
                let new = try noteCommit(text, for: id, parent: old, author: author)
                return try setRef(ref, to: new, expecting: .some(old), message: "notes: pipectl")
            } catch {
                guard [.modified, .locked, .exists].contains(error.code), ContinuousClock.now < deadline else {
                    throw error
                }
                // Another writer takes about a millisecond. A random pause keeps two writers from colliding again and
                // again.
                usleep(.random(in: 100...2_000))
            }
        }
    }

    private func noteCommit(
        _ text: String, for id: OID, parent: OID?, author: Signature
    ) throws(GitError) -> OID {
        let parent: OpaquePointer? = if let parent { try commitHandle(parent).take() } else { nil }
        defer { git_commit_free(parent) }
        var (raw, commit, blob) = (id.raw, git_oid(), git_oid())
        try author.withRaw { author throws(GitError) in
            try git("git_note_commit_create") {
                git_note_commit_create(&commit, &blob, pointer, parent, author, author, &raw, text, 1)
            }
        }
        return OID(commit)
    }
}
