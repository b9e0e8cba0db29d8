/// The size of a tree when it is checked out, computed from the ids in it. Nothing is unpacked.
///
/// A folder that occurs several times counts each time. Sums that would overflow are `Int.max`.
public struct TreeSize: Sendable, Equatable {
    /// The number of files, links, submodules and folders below the tree's root.
    public var entries = 0
    /// How deep folders are nested; 0 if the tree has none.
    public var depth = 0
    /// The bytes of all files and links together, as Git stores them.
    public var bytes = 0
    /// The bytes of the largest file or link.
    public var largestFile = 0
    /// The bytes of the longest path, with its slashes.
    public var longestPath = 0
    /// The bytes of all entries' paths together.
    public var pathBytes = 0

    public init() {}

    mutating func add(file bytes: Int, name: Int) {
        entries = entries.plus(1)
        self.bytes = self.bytes.plus(bytes)
        largestFile = max(largestFile, bytes)
        longestPath = max(longestPath, name)
        pathBytes = pathBytes.plus(name)
    }

    mutating func add(folder: TreeSize, name: Int) {
        entries = entries.plus(folder.entries).plus(1)
        depth = max(depth, folder.depth.plus(1))
        bytes = bytes.plus(folder.bytes)
        largestFile = max(largestFile, folder.largestFile)
        longestPath = max(longestPath, folder.longestPath.plus(name + 1), name)
        pathBytes = pathBytes.plus(folder.pathBytes).plus(folder.entries.times(name + 1)).plus(name)
    }
}

/// The largest tree that is unpacked.
public struct TreeLimits: Sendable, Equatable {
    /// The number of files, links, submodules and folders.
    public var entries: Int
    /// The bytes of all files together.
    public var bytes: Int
    /// The bytes of one file. libgit2 keeps a whole file in memory while it writes or compares it.
    public var fileBytes: Int

    public init(entries: Int = 1_000_000, bytes: Int = 16 << 30, fileBytes: Int = 256 << 20) {
        self.entries = entries
        self.bytes = bytes
        self.fileBytes = fileBytes
    }

    /// For trees that were measured before, or that are the user's own. Only what no workspace can hold is refused.
    public static let none = TreeLimits(entries: 1 << 40, bytes: .max, fileBytes: .max)

    /// How deep folders may be nested. A workspace is measured down to 256 levels, and a step needs some below those of
    /// the tree.
    static let depth = 200
    /// The bytes of one name, which file systems limit.
    static let nameBytes = 255
    /// The bytes of one path. Linux allows 4,096, including the path of the workspace.
    static let pathLength = 3_500
    /// The bytes of one folder's own list of names, as Git stores it.
    static let folderBytes = 32 << 20
    /// The longest time that measuring may take.
    static let time = Duration.seconds(60)
}

/// A tree that is not unpacked, because it exceeds a limit.
public struct TreeExcess: Error, Sendable, Equatable, CustomStringConvertible {
    /// The quantity that exceeds its limit.
    public enum Measure: String, Sendable {
        case entries, bytes, fileBytes, depth, nameBytes, pathLength, pathBytes, folderBytes, time
    }

    /// The quantity that exceeds the limit.
    public var measure: Measure
    /// The value that was found. If ``isAtLeast`` is true, counting ended there.
    public var value: Int
    /// The limit.
    public var limit: Int
    /// Whether ``value`` is only a lower bound.
    public var isAtLeast = false
    /// Where in the tree; empty for the whole tree. Bytes that are not UTF-8 are U+FFFD.
    public var path = ""

    /// The sentence, without what to do about it.
    public var description: String {
        let count = (isAtLeast || value == .max ? "more than " : "") + "\(value == .max ? Int.max - 1 : value)"
        let place = path.isEmpty ? "" : " at \"\(path.prefix(200))\""
        return switch measure {
        case .entries: "the tree has \(count) files and folders; the limit is \(limit)"
        case .bytes: "the tree's files have \(count) bytes; the limit is \(limit)"
        case .fileBytes: "a file\(place) has \(count) bytes; the limit for one file is \(limit)"
        case .depth: "the tree has folders \(count) deep\(place); the limit is \(limit)"
        case .nameBytes: "a name\(place) has \(count) bytes; file systems take \(limit)"
        case .pathLength: "a path in the tree has \(count) bytes; the limit is \(limit)"
        case .pathBytes: "the paths of the tree's files have \(count) bytes together; the limit is \(limit)"
        case .folderBytes: "the list of names in the folder\(place) has \(count) bytes; the limit is \(limit)"
        case .time: "the tree was not measured within \(limit) s"
        }
    }

    /// The same as a `GitError`, for callers that only pass it on.
    var asGitError: GitError { GitError(call: "tree", code: .tooLarge, message: description) }
}

extension Int {
    fileprivate func plus(_ other: Int) -> Int {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }

    fileprivate func times(_ other: Int) -> Int {
        let (product, isOver) = multipliedReportingOverflow(by: other)
        return isOver ? .max : product
    }
}
