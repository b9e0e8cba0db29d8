/// What a tree comes to once it is checked out, found out by the ids in it: nothing is unpacked for it.
///
/// A folder that appears many times counts as often as it appears. Sums that no `Int` holds are `Int.max`.
public struct TreeSize: Sendable, Equatable {
    /// Files, links, submodules and folders below the tree's top.
    public var entries = 0
    /// Folders in folders; 0 where the tree has none.
    public var depth = 0
    /// Of all files and links together, as Git stores them.
    public var bytes = 0
    /// Of the largest file or link.
    public var largestFile = 0
    /// Of the longest path, with its slashes.
    public var longestPath = 0
    /// Of the paths of all entries together, in bytes.
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

/// What a tree may come to, at most, before anything of it is unpacked.
public struct TreeLimits: Sendable, Equatable {
    /// Files, links, submodules and folders.
    public var entries: Int
    /// Of all files together.
    public var bytes: Int
    /// Of one file. libgit2 holds a file whole in memory while it writes or compares it.
    public var fileBytes: Int

    public init(entries: Int = 1_000_000, bytes: Int = 16 << 30, fileBytes: Int = 256 << 20) {
        self.entries = entries
        self.bytes = bytes
        self.fileBytes = fileBytes
    }

    /// For what was measured before, or is the user's own: only what no workspace can hold is refused.
    public static let none = TreeLimits(entries: 1 << 40, bytes: .max, fileBytes: .max)

    /// Folders in folders. A workspace is measured no deeper than 256 folders, and a step needs some below the tree's.
    static let depth = 200
    /// Of one name, as file systems have it.
    static let nameBytes = 255
    /// Of one path. Linux takes 4,096 with what is in front of it.
    static let pathLength = 3_500
    /// Of one folder's own list of names, as Git stores it.
    static let folderBytes = 32 << 20
    /// How long the measuring may take.
    static let time = Duration.seconds(60)
}

/// A tree that is not unpacked, because it comes to more than a limit.
public struct TreeExcess: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Measure: String, Sendable {
        case entries, bytes, fileBytes, depth, nameBytes, pathLength, pathBytes, folderBytes, time
    }

    public var measure: Measure
    /// What was found; where ``isAtLeast``, the counting ended there.
    public var value: Int
    public var limit: Int
    public var isAtLeast = false
    /// Where in the tree; empty where it is the whole of it. Bytes that are not UTF-8 are U+FFFD.
    public var path = ""

    /// Without what to do about it.
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

    /// The same as an error of Git's, for those who only pass it on.
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
