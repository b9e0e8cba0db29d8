internal import CGit
internal import CLooseObjects
internal import Foundation

/// An open Git repository: its refs, its objects, and what can be computed from them.
///
/// Use it on one thread; it is not `Sendable`. ``withRepository(at:_:)`` lends an open one.
public final class Repository {
    /// `git_repository *`, owned.
    let pointer: OpaquePointer

    init(owning pointer: OpaquePointer) { self.pointer = pointer }

    deinit { git_repository_free(pointer) }

    /// Opens `path`: a work tree, its `.git` folder, or a bare repository. Parent folders are not searched.
    ///
    /// - Throws: `.notFound` if there is no repository at `path`, `.owner` if it belongs to another user, and
    ///   `.unsupported` for a form that would fail later: a shallow or partial clone, SHA-256 ids, reftable refs, and
    ///   extensions that this libgit2 does not know.
    public init(opening path: String) throws(GitError) {
        var out: OpaquePointer?
        do {
            try git("git_repository_open") {
                git_repository_open_ext(&out, path, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue, nil)
            }
        } catch {
            throw Refusal.explain(error, at: path)
        }
        guard let out else { throw GitError(call: "git_repository_open", code: .failed, message: nil) }
        pointer = out
        // From here on `deinit` frees the pointer, also if this throws.
        try Refusal.check(self, at: path)
        for store in objectStores() {
            try git("git_odb_add_alternate") { loose_objects_read(UnsafeMutableRawPointer(pointer), store) }
        }
    }

    /// Creates an empty bare repository.
    ///
    /// - Throws: `.exists` if there is anything but an empty folder at `path`.
    public static func create(bareAt path: String) throws(GitError) -> Repository {
        try requireFree(path)
        _ = Repository(owning: try initialise(path, bare: true))
        return try Repository(opening: path)
    }

    /// Creates a bare repository that also reads the objects of the one at `lender`, or opens an existing one.
    ///
    /// New objects are written to `path` only. The lender, and the repositories that it borrows from, are named in
    /// `objects/info/alternates` by absolute path and must exist as long as this repository.
    public static func create(bareAt path: String, borrowing lender: String) throws(GitError) -> Repository {
        try create(bareAt: path, borrowing: [lender])
    }

    /// The same with several lenders. An object that several of them have is read from the first.
    public static func create(bareAt path: String, borrowing lenders: [String]) throws(GitError) -> Repository {
        var stores: [String] = []
        for lender in lenders {
            stores += try Repository(opening: lender).objectStores().filter { !stores.contains($0) }
        }
        let isNew = !FileManager.default.fileExists(atPath: path + "/HEAD")
        if isNew {
            try requireFree(path)
            _ = Repository(owning: try initialise(path, bare: true))
        }
        try writeAlternates(stores, objects: path + "/objects")
        return try Repository(opening: path)
    }

    /// The folder with refs and objects, absolute, without a slash at its end.
    public var gitDirectory: String { Self.trimmed(git_repository_path(pointer)) ?? "" }

    /// The folder with the checked-out files, absolute; nil for a bare repository.
    public var workDirectory: String? { Self.trimmed(git_repository_workdir(pointer)) }

    /// Whether the repository has no work tree.
    public var isBare: Bool { git_repository_is_bare(pointer) == 1 }

    static func initialise(_ path: String, bare: Bool) throws(GitError) -> OpaquePointer {
        var options = git_repository_init_options()
        try git("git_repository_init_options_init") {
            git_repository_init_options_init(&options, UInt32(GIT_REPOSITORY_INIT_OPTIONS_VERSION))
        }
        options.flags = GIT_REPOSITORY_INIT_MKPATH.rawValue
        if bare { options.flags |= GIT_REPOSITORY_INIT_BARE.rawValue }
        var out: OpaquePointer?
        try "main".withInitialHead(&options) { options throws(GitError) in
            try git("git_repository_init") { git_repository_init_ext(&out, path, &options) }
        }
        guard let out else { throw GitError(call: "git_repository_init", code: .failed, message: nil) }
        return out
    }

    static func requireFree(_ path: String) throws(GitError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
        let isEmpty = isFolder.boolValue && (try? FileManager.default.contentsOfDirectory(atPath: path)) == []
        guard isEmpty else {
            throw GitError(
                call: "git_repository_init", code: .exists,
                message: "\"\(path)\" exists and is not an empty folder. Choose another path, or move it away.")
        }
    }

    private static func trimmed(_ path: UnsafePointer<CChar>?) -> String? {
        guard let path else { return nil }
        let text = String(cString: path)
        return text.count > 1 && text.hasSuffix("/") ? String(text.dropLast()) : text
    }
}

extension String {
    /// Lends the name of the branch that a new repository's `HEAD` points to.
    fileprivate func withInitialHead(
        _ options: inout git_repository_init_options,
        _ body: (inout git_repository_init_options) throws(GitError) -> Void
    ) throws(GitError) {
        guard let name = strdup(self) else { return try body(&options) }
        defer { free(name) }
        options.initial_head = UnsafePointer(name)
        try body(&options)
    }
}
