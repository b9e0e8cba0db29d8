internal import Results
internal import Store
internal import Foundation

/// Where a run left its files, as the engine lays them out.
public struct RunFiles: Sendable, Equatable {
    /// The folder with the logs and their times; all regular files in it are archived.
    public var logs: String?
    /// The folder with copies of result files.
    public var results: String?
    /// Paths below ``results``.
    public var resultFiles: [String]
    /// The folder with copies of artifacts, each named by its digest.
    public var artifacts: String?

    public init(logs: String? = nil, results: String? = nil, resultFiles: [String] = [], artifacts: String? = nil) {
        self.logs = logs
        self.results = results
        self.resultFiles = resultFiles
        self.artifacts = artifacts
    }
}

/// All files of one run as the archive is to have them: small ones by their bytes, large ones by their place.
struct RunContents: Sendable {
    /// The largest file that the index keeps, in bytes.
    static let mostOfFile = 256 << 10
    /// The most that the index keeps of one run's logs and result files, in bytes.
    static let mostOfRun = 4 << 20

    private(set) var files: [ArchiveFile] = []
    /// Files of the run's folders that are too large for the index.
    private(set) var large: [(name: String, path: String)] = []
    /// The sum of the sizes of all, in bytes.
    private(set) var bytes = 0
    private var room = mostOfRun

    /// Reads what the run left. Throws `.unreadableFile`.
    init(_ report: Report, _ request: RunRequest, _ tests: [TestResult], _ files: RunFiles) throws {
        add("report.json", try ArchiveJSON.pretty(report))
        add("request.json", try ArchiveJSON.pretty(request))
        if !tests.isEmpty { add("tests.json", Array((try ArchiveJSON.compactText(tests) + "\n").utf8)) }
        if !report.artifacts.isEmpty { add("artifacts.json", try ArchiveJSON.pretty(report.artifacts)) }
        if let logs = files.logs { try addFiles(of: logs, as: "logs") }
        for file in files.resultFiles { try add("results/" + file, fromFile: (files.results ?? ".") + "/" + file) }
    }

    private mutating func add(_ name: String, _ content: [UInt8]) {
        files.append(ArchiveFile(path: name, content: content))
        bytes += content.count
    }

    private mutating func add(_ name: String, fromFile path: String) throws {
        // Git takes no such name into a tree, and outside the folder nothing may be written.
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy({ !["", ".", "..", ".git"].contains($0.lowercased()) }) else {
            throw Self.unreadable(path, "\"\(name)\" can't be a name in the archive")
        }
        // A symbolic link is refused, not followed: a step may have put it there.
        let file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { throw Self.unreadable(path, String(cString: strerror(errno))) }
        defer { close(file) }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw Self.unreadable(path, "it is not a regular file")
        }
        let size = Int(facts.st_size)
        guard size <= min(Self.mostOfFile, room) else {
            files.append(ArchiveFile(path: name, content: nil))
            large.append((name, path))
            bytes += size
            return
        }
        room -= size
        add(name, try Self.read(file, size, path))
    }

    private static func read(_ file: Int32, _ size: Int, _ path: String) throws -> [UInt8] {
        var content = [UInt8](repeating: 0, count: size)
        var done = 0
        while done < size {
            let count = content.withUnsafeMutableBytes {
                Foundation.read(file, $0.baseAddress?.advanced(by: done), size - done)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw unreadable(path, "it shrank while it was read") }
            done += count
        }
        return content
    }

    private mutating func addFiles(of folder: String, as name: String) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: folder).sorted() {
            let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + file)
            guard facts[.type] as? FileAttributeType == .typeRegular else { continue }
            try add(name + "/" + file, fromFile: folder + "/" + file)
        }
    }

    private static func unreadable(_ path: String, _ reason: String) -> ArchiveError {
        ArchiveError(
            .unreadableFile, "\"\(path)\" can't be archived: \(reason). Only regular files that nobody writes can be.")
    }
}
