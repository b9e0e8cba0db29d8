package import Foundation
package import Pipeline
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A folder that untrusted code wrote, on this machine or another.
///
/// Its calls block, so they are made off the cooperative pool.
package protocol FileSource: Sendable {
    /// Finds the regular files that at least one of `globs` matches, sorted by path, and the empty folders.
    ///
    /// - Parameter findsLinks: Whether links that mean the same in another run's workspace are found as if they were
    ///   files.
    func search(_ globs: [Glob], _ limits: FileLimits, findsLinks: Bool) -> FileSearch

    /// Passes on the bytes of a regular file in pieces, and returns how many it has.
    ///
    /// Each component of the path is opened without following links, so that nothing outside the folder is ever read.
    ///
    /// - Throws: ``WorkspaceFileProblem`` if it is no longer the regular file that was found, has more than `limit`
    ///   bytes, or can't be read; what `keep` throws.
    func read(_ path: String, atMost limit: Int, _ keep: (UnsafeRawBufferPointer) throws -> Void) throws -> Int
}

/// A regular file below a workspace, or a link if links are searched for.
package struct FileMatch: Sendable, Equatable, Codable {
    package var path: String
    /// The target of a link; nil for a file.
    package var target: String?
    package var bytes: Int
    package var isExecutable: Bool
    package var stamp: FileStamp
}

/// Identifies one version of a file by its inode and change time, which a step can't set, whatever the clock does.
package struct FileStamp: Sendable, Equatable, Codable {
    package var inode: UInt64
    package var seconds: Int
    package var nanoseconds: Int
    package var bytes: Int
    /// When the file's content or mode was last changed, by the clock of its machine.
    package var date: Date { Date(timeIntervalSince1970: Double(seconds) + Double(nanoseconds) / 1e9) }

    /// A lower bound for the change time of any file that is changed from now on. Linux stamps files with the time of
    /// its last tick, a few milliseconds ago (clock_gettime(2)).
    package static var now: Date {
        #if os(Linux)
            var time = timespec()
            guard clock_gettime(CLOCK_REALTIME_COARSE, &time) == 0 else { return Date() }
            return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
        #else
            return Date()
        #endif
    }
}

extension stat {
    var stamp: FileStamp {
        #if os(Linux)
            let time = st_ctim
        #else
            let time = st_ctimespec
        #endif
        return FileStamp(
            inode: UInt64(st_ino), seconds: time.tv_sec, nanoseconds: time.tv_nsec, bytes: Int(st_size))
    }
}

/// What a search found, and why it may be incomplete.
package struct FileSearch: Sendable, Codable {
    package var matches: [FileMatch] = []
    /// The paths of empty folders that match, sorted.
    package var emptyFolders: [String] = []
    package var problems: [String] = []
    /// Whether a limit ended the search.
    package var isCut = false
    /// The first folder that could not be searched although it may hold a match.
    package var gap: WorkspaceFileProblem?

    package init() {}

    /// Maximum number of problems that are reported: a hostile folder may hold a million links.
    private static let mostProblems = 20

    package mutating func report(_ problem: String) {
        if problems.count < Self.mostProblems || isCut { problems.append(problem) }
    }
}

/// Why a file could not be taken out of a workspace.
package struct WorkspaceFileProblem: Error, Sendable, Equatable, Codable, CustomStringConvertible {
    package var path: String
    package var reason: String
    /// Whether nothing exists at that path.
    package var isMissing = false
    /// The name of the secret that the file holds, if that is the reason.
    package var secret: String?
    /// The error of the machine's disk or kernel, if the workspace is not to blame.
    package var machineError: Errno?
    package var description: String { "\(path) can't be collected: \(reason)" }

    package init(
        path: String, reason: String, isMissing: Bool = false, secret: String? = nil, machineError: Errno? = nil
    ) {
        self.path = path
        self.reason = reason
        self.isMissing = isMissing
        self.secret = secret
        self.machineError = machineError
    }
}

extension WorkspaceFileProblem {
    /// Describes an error of reading the file at `path`.
    package init(path: String, of code: Errno) {
        let isOfMachine = [.ioError, .tooManyOpenFiles, .tooManyOpenFilesInSystem, .noMemory].contains(code)
        self.init(
            path: path, reason: "\(code)", isMissing: code == .noSuchFileOrDirectory,
            machineError: isOfMachine ? code : nil)
    }
}
