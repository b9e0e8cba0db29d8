internal import CGit
internal import Foundation

/// A checkout in two parts: the files in one folder, Git's own files in another.
public struct LayeredCheckout: Sendable {
    /// The commit's tree.
    public var tree: OID
    /// Which of the tree's files are in the folder; nil: all of them.
    public var difference: TreeDifference?
}

/// Files in the lower layer that were checked out before: their tree and their index.
public struct CheckedOut: Sendable {
    public var tree: OID
    /// The path of an index file with the sizes and times of these files.
    public var index: String

    public init(tree: OID, index: String) {
        self.tree = tree
        self.index = index
    }
}

/// A tracked file that was written, with its size and time on the disk.
public struct WrittenFile: Sendable {
    /// Relative to the tree's root, with slashes.
    public var path: [UInt8]
    /// The id of the file's blob.
    public var id: OID
    /// Whether the tree marks it as executable.
    public var isExecutable: Bool
    /// The size on the disk, which may differ from the blob's because of attributes.
    public var bytes: Int
    /// The modification time since 1970: whole seconds, and the rest in nanoseconds.
    public var modified: (seconds: Int, nanoseconds: Int)

    public init(
        path: [UInt8], id: OID, isExecutable: Bool, bytes: Int, modified: (seconds: Int, nanoseconds: Int)
    ) {
        self.path = path
        self.id = id
        self.isExecutable = isExecutable
        self.bytes = bytes
        self.modified = modified
    }

    fileprivate var entry: IndexFile.Entry {
        var raw = git_index_entry()
        raw.mode = isExecutable ? GIT_FILEMODE_BLOB_EXECUTABLE.rawValue : GIT_FILEMODE_BLOB.rawValue
        raw.mtime = git_index_time(
            seconds: Int32(truncatingIfNeeded: modified.seconds), nanoseconds: UInt32(modified.nanoseconds))
        raw.ctime = raw.mtime
        raw.file_size = UInt32(truncatingIfNeeded: bytes)
        raw.id = id.raw
        return (path + [0]).withUnsafeBufferPointer { path in
            path.withMemoryRebound(to: CChar.self) { path in
                raw.path = path.baseAddress
                return IndexFile.Entry(raw)
            }
        }
    }
}

extension Repository {
    /// Writes the index `base` with the sizes and times of `files` to the new file `path`.
    ///
    /// - Throws: `.invalid` if the base is not an index, `.notFound` if it can't be read, `.failed` if the disk is
    ///   full.
    public static func writeIndex(
        patching base: String, with files: [WrittenFile], to path: String
    ) throws(GitError) {
        let entries = files.map(\.entry).sorted { $0.path.lexicographicallyPrecedes($1.path) }
        try IndexFile.write(patching: base, removing: [], adding: entries, to: path)
    }

    /// Which of `commit`'s files ``checkoutLayer(_:files:gitDirectory:over:)`` would write over `base`; nil: all.
    ///
    /// All files are written if Git's attributes differ, because then any file may be converted in another way; and
    /// also if a submodule can't be checked out by its name.
    public func layerDifference(_ commit: OID, over base: CheckedOut?) throws(GitError) -> TreeDifference? {
        guard let base else { return nil }
        let tree = try treeID(of: commit)
        let difference = try difference(fromTree: base.tree, to: tree)
        return difference.changesAttributes || difference.hasOddSubmodule ? nil : difference
    }

    /// Writes `commit`'s files into the empty folder `files`, and a repository of their own into `gitDirectory`.
    ///
    /// Over a `base`, only files that differ from it are written: together with those of the base, the result is that
    /// of ``checkout(_:into:)``. In both cases the index in `gitDirectory` is that of the whole tree. It shows files
    /// with unchanged size and time as unchanged, whatever device and owner they seem to have. Both folders must belong
    /// to the caller. Nothing is flushed to the disk.
    public func checkoutLayer(
        _ commit: OID, files: String, gitDirectory: String, over base: CheckedOut? = nil
    ) throws(GitError) -> LayeredCheckout {
        try checkoutLayer(
            commit, files: files, gitDirectory: gitDirectory, over: base,
            writing: layerDifference(commit, over: base))
    }

    /// - Parameter difference: The result of ``layerDifference(_:over:)``, for callers that needed it before.
    public func checkoutLayer(
        _ commit: OID, files: String, gitDirectory: String, over base: CheckedOut?,
        writing difference: TreeDifference?
    ) throws(GitError) -> LayeredCheckout {
        let tree = try treeID(of: commit)
        try Repository.makeSkeleton(at: gitDirectory, borrowing: objectStores(), head: commit)
        let index = "\(gitDirectory)/index"
        if let base, let difference {
            if difference.isEmpty {
                // Neither file is written in place again.
                if link(base.index, index) != 0 { try Repository.copy(base.index, to: index) }
                return LayeredCheckout(tree: tree, difference: difference)
            }
            var entries: [IndexFile.Entry] = []
            if !difference.written.isEmpty {
                entries = try checkOut(commit, files, gitDirectory, only: difference.written)
            }
            try IndexFile.write(
                patching: base.index, removing: difference.removed + difference.replaced, adding: entries, to: index)
            return LayeredCheckout(tree: tree, difference: difference)
        }
        try IndexFile.write(try checkOut(commit, files, gitDirectory, only: []), to: index)
        return LayeredCheckout(tree: tree, difference: nil)
    }

    /// Returns the index that libgit2 would have written. Without `paths`, all files are written.
    private func checkOut(
        _ commit: OID, _ files: String, _ gitDirectory: String, only paths: [[UInt8]]
    ) throws(GitError) -> [IndexFile.Entry] {
        let opened = try Handle("git_repository_open", free: git_repository_free) {
            git_repository_open_ext(
                &$0, gitDirectory, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue | GIT_REPOSITORY_OPEN_BARE.rawValue, nil)
        }
        let workspace = Repository(owning: opened.take())
        try git("git_repository_set_workdir") { git_repository_set_workdir(workspace.pointer, files, 0) }
        let index = try workspace.writeFiles(of: commit, only: paths, isIndexWritten: false)
        var entries: [IndexFile.Entry] = []
        entries.reserveCapacity(git_index_entrycount(index.pointer))
        for number in 0..<git_index_entrycount(index.pointer) {
            guard let entry = git_index_get_byindex(index.pointer, number) else { continue }
            entries.append(IndexFile.Entry(entry.pointee))
        }
        return entries
    }

    private static func copy(_ path: String, to other: String) throws(GitError) {
        do { try FileManager.default.copyItem(atPath: path, toPath: other) } catch {
            throw GitError(
                call: "index", code: .failed, message: "\"\(other)\" can't be written: \(error.localizedDescription).",
                systemError: GitError.systemError(of: error))
        }
    }
}
