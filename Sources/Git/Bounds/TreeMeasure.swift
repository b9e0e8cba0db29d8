internal import CGit
internal import Synchronization

extension Repository {
    /// The size of the tree when it is checked out.
    ///
    /// Each tree object is read once, however often it occurs, and no file is read. Results are cached in this process,
    /// so that a push costs only what it changes.
    ///
    /// - Throws: ``TreeExcess`` if the tree exceeds `limits`, or has a name, path or folder that no workspace can hold;
    ///   `GitError` if an object can't be read.
    public func measure(tree: OID, limits: TreeLimits = TreeLimits()) throws -> TreeSize {
        var measure = TreeMeasure(self, limits)
        let size = try measure.size(of: tree, at: [], depth: 0)
        try measure.check(size)
        return size
    }

    /// The size of a commit's tree.
    public func measure(commit: OID, limits: TreeLimits = TreeLimits()) throws -> TreeSize {
        try measure(tree: treeID(of: commit), limits: limits)
    }
}

/// A walk through a tree by object ids.
private struct TreeMeasure {
    private let repository: Repository
    private let limits: TreeLimits
    private let deadline = ContinuousClock.now + TreeLimits.time
    /// The entries that this walk has read. They must not exceed the limit for the whole tree.
    private var read = 0

    init(_ repository: Repository, _ limits: TreeLimits) {
        self.repository = repository
        self.limits = limits
    }

    mutating func size(of tree: OID, at path: [UInt8], depth: Int) throws -> TreeSize {
        if let known = MeasuredTrees.shared[tree] { return known }
        guard depth <= TreeLimits.depth else {
            throw excess(.depth, depth, TreeLimits.depth, path, isAtLeast: true)
        }
        let listBytes = try repository.size(of: tree)
        guard listBytes <= TreeLimits.folderBytes else {
            throw excess(.folderBytes, listBytes, TreeLimits.folderBytes, path)
        }
        let handle = try repository.treeHandle(tree)
        var size = TreeSize()
        for number in 0..<git_tree_entrycount(handle.pointer) {
            guard let entry = TreeLine(git_tree_entry_byindex(handle.pointer, number)) else { continue }
            try countRead(path)
            let name = entry.name
            func place() -> [UInt8] { path.isEmpty ? name : path + [0x2F] + name }
            guard name.count <= TreeLimits.nameBytes else {
                throw excess(.nameBytes, name.count, TreeLimits.nameBytes, place())
            }
            if entry.isFolder {
                size.add(folder: try self.size(of: entry.id, at: place(), depth: depth + 1), name: name.count)
            } else if entry.mode == GIT_FILEMODE_COMMIT {
                size.add(file: 0, name: name.count)
            } else {
                let bytes = try repository.size(of: entry.id)
                guard bytes <= limits.fileBytes else { throw excess(.fileBytes, bytes, limits.fileBytes, place()) }
                size.add(file: bytes, name: name.count)
            }
        }
        MeasuredTrees.shared[tree] = size
        return size
    }

    func check(_ size: TreeSize) throws {
        func bound(_ measure: TreeExcess.Measure, _ value: Int, _ limit: Int) throws {
            if value > limit { throw excess(measure, value, limit, []) }
        }
        try bound(.depth, size.depth, TreeLimits.depth)
        try bound(.entries, size.entries, limits.entries)
        try bound(.fileBytes, size.largestFile, limits.fileBytes)
        try bound(.bytes, size.bytes, limits.bytes)
        try bound(.pathLength, size.longestPath, TreeLimits.pathLength)
        // An average: if paths are long, fewer of them fit.
        try bound(
            .pathBytes, size.pathBytes, max(limits.entries, 1_000).multipliedReportingOverflow(by: 256).partialValue)
    }

    private mutating func countRead(_ path: [UInt8]) throws {
        read += 1
        if read > limits.entries { throw excess(.entries, limits.entries, limits.entries, [], isAtLeast: true) }
        if read % 4_096 == 0, ContinuousClock.now > deadline {
            throw excess(.time, 0, Int(TreeLimits.time.components.seconds), path)
        }
    }

    private func excess(
        _ measure: TreeExcess.Measure, _ value: Int, _ limit: Int, _ path: [UInt8], isAtLeast: Bool = false
    ) -> TreeExcess {
        TreeExcess(
            measure: measure, value: value, limit: limit, isAtLeast: isAtLeast,
            path: String(decoding: path.prefix(400), as: UTF8.self))
    }
}

/// The sizes of trees that this process has measured. An id stands for one content, so a size is valid forever and in
/// any repository.
private final class MeasuredTrees: Sendable {
    static let shared = MeasuredTrees()

    private static let most = 100_000
    private let sizes = Mutex<[OID: TreeSize]>([:])

    subscript(_ tree: OID) -> TreeSize? {
        get { sizes.withLock { $0[tree] } }
        set {
            sizes.withLock { sizes in
                if sizes.count >= Self.most { sizes = [:] }
                sizes[tree] = newValue
            }
        }
    }
}
