internal import CGit
internal import Foundation

extension Repository {
    /// Checks `commit` out into `directory`, which must not exist or be empty, as a repository of its own.
    ///
    /// The new repository has its own object folder and borrows this one's by absolute path (so this one must outlive
    /// it), no refs, and a detached `HEAD` at `commit`. Attributes are honoured, hooks and external filters never run,
    /// symbolic links are created as they are, submodules stay empty folders. Never open `directory` with this room
    /// again once a step could write to it: libgit2 follows what it finds there out of the folder. Throws `.exists`
    /// when the folder is in use.
    public func checkout(_ commit: OID, into directory: String) throws(GitError) {
        try Self.requireFree(directory)
        guard contains(commit) else {
            throw GitError(
                call: "git_checkout_tree", code: .notFound,
                message: "\"\(gitDirectory)\" has no commit \(commit.short). Fetch it, then try again.")
        }
        let workspace = try Self.makeWorkspace(at: directory, borrowing: objectStores(), head: commit)
        var options = git_checkout_options()
        try git("git_checkout_options_init") {
            git_checkout_options_init(&options, UInt32(GIT_CHECKOUT_OPTIONS_VERSION))
        }
        // SAFE takes HEAD's tree for what is there, and would write nothing into an empty folder.
        options.checkout_strategy = GIT_CHECKOUT_FORCE.rawValue
        let tree = try workspace.commitTree(commit)
        try git("git_checkout_tree") { git_checkout_tree(workspace.pointer, tree.pointer, &options) }
    }
}
