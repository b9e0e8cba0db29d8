internal import CGit
internal import Foundation

/// A checkout in parts: the files in one folder, Git's own in another.
public struct LayeredCheckout: Sendable {
    /// The commit's tree.
    public var tree: OID
    /// What of the tree's files is in the folder; nil when all are.
    public var difference: TreeDifference?
}

/// Files that are checked out already, somewhere below: their tree, and their index.
public struct CheckedOut: Sendable {
    public var tree: OID
    /// The path of an index file whose sizes and times are those of the files.
    public var index: String

    public init(tree: OID, index: String) {
        self.tree = tree
        self.index = index
    }
}

extension Repository {
    /// Writes `commit`'s files into the empty folder `files`, and a repository of their own into `gitDirectory`.
    ///
    /// Over a `base` only those that differ from it are written: together with the base's they are what
    /// ``checkout(_:into:)`` would write. When Git's attributes differ all are written, because any file may come out
    /// otherwise then. Either way the index in `gitDirectory` is that of the whole tree, and tells of files with
    /// unchanged size and time that they are unchanged, whatever device and owner they seem to have. Both folders must
    /// be the caller's own. Nothing is forced to the disk.
    public func checkoutLayer(
        _ commit: OID, files: String, gitDirectory: String, over base: CheckedOut? = nil
    ) throws(GitError) -> LayeredCheckout {
        let tree = OID(git_tree_id(try commitTree(commit).pointer).pointee)
        try makeGitDirectory(gitDirectory, head: commit)
        let index = "\(gitDirectory)/index"
        if let base {
            let difference = try difference(fromTree: base.tree, to: tree)
            if difference.isEmpty {
                // Neither is written to in its place again.
                if link(base.index, index) != 0 { try Repository.copy(base.index, to: index) }
                return LayeredCheckout(tree: tree, difference: difference)
            }
            if !difference.changesAttributes {
                var entries: [IndexFile.Entry] = []
                if !difference.written.isEmpty {
                    entries = try checkOut(
                        commit, files, gitDirectory, only: difference.written + attributeFiles(of: difference.written))
                }
                let file = try Repository.read(base.index)
                let gone = difference.removed + difference.replaced
                let patched = file.withUnsafeBytes { file in
                    Result { () throws(GitError) in try IndexFile.patched(file, removing: gone, adding: entries) }
                }
                try Repository.write(try patched.get(), to: index)
                return LayeredCheckout(tree: tree, difference: difference)
            }
        }
        try Repository.write(IndexFile.make(try checkOut(commit, files, gitDirectory, only: [])), to: index)
        return LayeredCheckout(tree: tree, difference: nil)
    }

    /// Returns what libgit2 would have written to the index. Without `paths` all files are written.
    private func checkOut(
        _ commit: OID, _ files: String, _ gitDirectory: String, only paths: [[UInt8]]
    ) throws(GitError) -> [IndexFile.Entry] {
        let opened = try Handle("git_repository_open", free: git_repository_free) {
            git_repository_open_ext(
                &$0, gitDirectory, GIT_REPOSITORY_OPEN_NO_SEARCH.rawValue | GIT_REPOSITORY_OPEN_BARE.rawValue, nil)
        }
        let workspace = Repository(owning: opened.take())
        try git("git_repository_set_workdir") { git_repository_set_workdir(workspace.pointer, files, 0) }
        var options = git_checkout_options()
        try git("git_checkout_options_init") {
            git_checkout_options_init(&options, UInt32(GIT_CHECKOUT_OPTIONS_VERSION))
        }
        // libgit2 would force its index to the disk.
        options.checkout_strategy =
            GIT_CHECKOUT_FORCE.rawValue | GIT_CHECKOUT_DONT_WRITE_INDEX.rawValue
            | GIT_CHECKOUT_DISABLE_PATHSPEC_MATCH.rawValue
        let tree = try workspace.commitTree(commit)
        try git("git_checkout_tree") {
            withPaths(paths) { paths in
                options.paths = paths
                return git_checkout_tree(workspace.pointer, tree.pointer, &options)
            }
        }
        let index = try Handle("git_repository_index", free: git_index_free) {
            git_repository_index(&$0, workspace.pointer)
        }
        var entries: [IndexFile.Entry] = []
        entries.reserveCapacity(git_index_entrycount(index.pointer))
        for number in 0..<git_index_entrycount(index.pointer) {
            guard let entry = git_index_get_byindex(index.pointer, number) else { continue }
            entries.append(IndexFile.Entry(entry.pointee))
        }
        return entries
    }

    /// Every place whose attributes may say something of these files: they decide about line ends and the like.
    private func attributeFiles(of paths: [[UInt8]]) -> [[UInt8]] {
        var found: Set<[UInt8]> = []
        for path in paths {
            var rest = path[...]
            repeat {
                rest = rest[..<(rest.lastIndex(of: 0x2F) ?? rest.startIndex)]
                let name = Array(".gitattributes".utf8)
                guard found.insert(rest.isEmpty ? name : rest + [0x2F] + name).inserted else { break }
            } while !rest.isEmpty
        }
        return Array(found)
    }

    /// No more than Git needs: each file costs, and a run has one of these.
    private func makeGitDirectory(_ path: String, head: OID) throws(GitError) {
        let settings = """
            [core]
            \trepositoryformatversion = 0
            \tfilemode = true
            \tbare = false
            \tlogallrefupdates = true
            \tcheckStat = minimal
            \ttrustctime = false

            """
        do {
            for folder in ["objects/info", "refs/heads"] {
                try FileManager.default.createDirectory(
                    atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
            }
            try Data("\(head.hex)\n".utf8).write(to: URL(fileURLWithPath: "\(path)/HEAD"))
            try Data(settings.utf8).write(to: URL(fileURLWithPath: "\(path)/config"))
            try Data((objectStores().joined(separator: "\n") + "\n").utf8)
                .write(to: URL(fileURLWithPath: "\(path)/objects/info/alternates"))
        } catch {
            throw GitError(
                call: "git_repository_init", code: .failed,
                message: "\"\(path)\" could not be made: \(error.localizedDescription). Check its disk.")
        }
    }

    private static func read(_ path: String) throws(GitError) -> Data {
        do { return try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe) } catch {
            throw GitError(
                call: "index", code: .notFound, message: "\"\(path)\" can't be read: \(error.localizedDescription).")
        }
    }

    private static func copy(_ path: String, to other: String) throws(GitError) {
        do { try FileManager.default.copyItem(atPath: path, toPath: other) } catch {
            throw GitError(
                call: "index", code: .failed, message: "\"\(other)\" can't be written: \(error.localizedDescription).")
        }
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(GitError) {
        do { try Data(bytes).write(to: URL(fileURLWithPath: path)) } catch {
            throw GitError(
                call: "index", code: .failed, message: "\"\(path)\" can't be written: \(error.localizedDescription).")
        }
    }
}

/// Lends paths, which may be any bytes, to one call.
private func withPaths(_ paths: [[UInt8]], _ body: (git_strarray) -> Int32) -> Int32 {
    var pointers = paths.map { path in strdup(path.map { CChar(bitPattern: $0) } + [0]) }
    defer { pointers.forEach { free($0) } }
    return pointers.withUnsafeMutableBufferPointer { pointers in
        body(git_strarray(strings: pointers.baseAddress, count: pointers.count))
    }
}
