internal import CGit
internal import Foundation

extension Repository {
    /// Stores `bytes` as a file's content and returns the blob's id.
    public func createBlob(_ bytes: [UInt8]) throws(GitError) -> OID {
        var id = git_oid()
        try git("git_blob_create_from_buffer") {
            bytes.withUnsafeBytes { git_blob_create_from_buffer(&id, pointer, $0.baseAddress, $0.count) }
        }
        return OID(id)
    }

    /// Stores the bytes of the regular file at `path`, in pieces and without filters. A symbolic link is refused.
    public func createBlob(fromFile path: String) throws(GitError) -> OID {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw unreadable(path, String(cString: strerror(errno))) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unreadable(path, "it is not a regular file")
        }
        let odb = try Handle("git_repository_odb", free: git_odb_free) { git_repository_odb(&$0, pointer) }
        var stream: UnsafeMutablePointer<git_odb_stream>?
        try git("git_odb_open_wstream") {
            git_odb_open_wstream(&stream, odb.pointer, git_object_size_t(status.st_size), GIT_OBJECT_BLOB)
        }
        defer { git_odb_stream_free(stream) }
        // An object begins with its size. A file that grows meanwhile is cut; one that shrinks is an error.
        var left = Int(status.st_size)
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while left > 0 {
            let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, min(left, $0.count)) }
            guard count > 0 else { throw unreadable(path, "it shrank while it was read") }
            try git("git_odb_stream_write") {
                buffer.withUnsafeBytes { bytes in
                    git_odb_stream_write(stream, bytes.assumingMemoryBound(to: CChar.self).baseAddress, count)
                }
            }
            left -= count
        }
        var id = git_oid()
        try git("git_odb_stream_finalize_write") { git_odb_stream_finalize_write(&id, stream) }
        return OID(id)
    }

    /// Stores a tree, nested according to the slashes in the paths.
    ///
    /// - Throws: `.invalidName` for a path component that is empty, ".", ".." or ".git", and for a path that is both a
    ///   file and a folder.
    public func createTree(_ files: [String: TreeFile]) throws(GitError) -> OID {
        try createTree(
            files.map { (path: $0.key.split(separator: "/", omittingEmptySubsequences: false), file: $0.value) })
    }

    private func createTree(_ files: [(path: [Substring], file: TreeFile)]) throws(GitError) -> OID {
        let builder = try Handle("git_treebuilder_new", free: git_treebuilder_free) {
            git_treebuilder_new(&$0, pointer, nil)
        }
        for (name, inside) in Dictionary(grouping: files, by: { $0.path.first ?? "" }) {
            guard !["", ".", ".."].contains(name), name.lowercased() != ".git" else { throw badPath(inside[0].path) }
            var (mode, id) = (GIT_FILEMODE_TREE, git_oid())
            if inside.count == 1, inside[0].path.count == 1 {
                mode = inside[0].file.isExecutable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB
                id = inside[0].file.blob.raw
            } else {
                guard inside.allSatisfy({ $0.path.count > 1 }) else { throw badPath(inside[0].path) }
                id = try createTree(inside.map { (path: Array($0.path.dropFirst()), file: $0.file) }).raw
            }
            try git("git_treebuilder_insert") {
                git_treebuilder_insert(nil, builder.pointer, String(name), &id, mode)
            }
        }
        var id = git_oid()
        try git("git_treebuilder_write") { git_treebuilder_write(&id, builder.pointer) }
        return OID(id)
    }

    /// Stores the tree that results from `base` by adding, replacing and, for nil, removing files.
    ///
    /// A file replaces a folder with the same name, and the other way round. Throws for a path component that Git would
    /// not check out: empty, ".", "..", ".git".
    public func tree(_ base: OID, changing files: [(path: String, file: TreeFile?)]) throws(GitError) -> OID {
        let index = try Handle("git_index_new", free: git_index_free) { git_index_new(&$0) }
        let tree = try treeHandle(base)
        try git("git_index_read_tree") { git_index_read_tree(index.pointer, tree.pointer) }
        for (path, file) in files where file == nil {
            try git("git_index_remove") { git_index_remove(index.pointer, path, 0) }
        }
        for (path, file) in files {
            guard let file else { continue }
            guard !path.utf8.contains(0) else { throw badPath([Substring(path)]) }
            try git("git_index_add") {
                path.withCString { path in
                    var entry = git_index_entry()
                    let mode = file.isExecutable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB
                    (entry.path, entry.id, entry.mode) = (path, file.blob.raw, UInt32(mode.rawValue))
                    return git_index_add(index.pointer, &entry)
                }
            }
        }
        var id = git_oid()
        try git("git_index_write_tree_to") { git_index_write_tree_to(&id, index.pointer, pointer) }
        return OID(id)
    }

    /// Stores a commit. No ref is moved.
    ///
    /// - Throws: `.notFound` if the tree or a parent is not in the repository.
    public func createCommit(
        tree: OID, parents: [OID], author: Signature, committer: Signature, message: String
    ) throws(GitError) -> OID {
        var (id, tree, raws) = (git_oid(), tree.raw, parents.map(\.raw))
        try author.withRaw { author throws(GitError) in
            try committer.withRaw { committer throws(GitError) in
                try git("git_commit_create") {
                    raws.withUnsafeMutableBufferPointer { raws in
                        let pointers = raws.indices.map { index in raws.baseAddress.map { UnsafePointer($0 + index) } }
                        return cgit_commit_create(
                            &id, pointer, author, committer, message, &tree, pointers.count, pointers)
                    }
                }
            }
        }
        return OID(id)
    }

    private func unreadable(_ path: String, _ reason: String) -> GitError {
        GitError(
            call: "createBlob", code: .failed,
            message: "\"\(path)\" could not be stored: \(reason). Give a regular file that no process is writing.")
    }

    private func badPath(_ path: [Substring]) -> GitError {
        GitError(
            call: "git_treebuilder_insert", code: .invalidName,
            message: "\"\(path.joined(separator: "/"))\" cannot be a file of a tree: a part of it is empty, \".\", "
                + "\"..\", \".git\" or also a file. Choose another name.")
    }
}
