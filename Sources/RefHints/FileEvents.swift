internal import Foundation

/// A reason to take a new snapshot of a repository's refs.
public struct RefHint: Sendable, Hashable {
    public enum Cause: Sendable, Hashable {
        /// Something in the refs was written.
        case changed
        /// The kernel dropped events: anything may have changed.
        case overflow
        /// From now on changes can be missed; ``RefHint/limit`` says why.
        case limited
        /// The repository was removed or moved; nothing more comes from it.
        case gone
    }

    /// As it was passed to ``FileEvents/refChanges(inGitDirectories:)``.
    public var gitDirectory: String
    public var cause: Cause
    /// Why some changes won't be noticed and what to do about it, a sentence for people; `nil` if all will be.
    public var limit: String?

    public init(gitDirectory: String, cause: Cause, limit: String? = nil) {
        self.gitDirectory = gitDirectory
        self.cause = cause
        self.limit = limit
    }
}

/// Why there are no file events.
public struct FileEventsError: Error, Sendable, Equatable {
    /// What to switch on; open for those that later versions add.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// One of the folders is no Git repository.
        public static let notARepository = Code(rawValue: "not a repository")
        /// The kernel gives no events (all inotify instances are taken, or it has none).
        public static let unavailable = Code(rawValue: "unavailable")
    }

    public var code: Code
    /// A sentence for people: what is wrong and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension FileEventsError: CustomStringConvertible {
    public var description: String { message }
}

/// The kernel's hints that refs of a repository may have changed.
///
/// A hint may come for nothing, and it may be missing (network disks, too few watches, a folder above the repository
/// that was renamed). The truth is a snapshot of all refs, which is taken after each hint and from time to time without
/// one.
public enum FileEvents {
    /// Hints for changes of the refs in `inGitDirectories`: work trees, `.git` folders, linked worktrees or bare
    /// repositories.
    ///
    /// A burst of changes gives one hint. Every change after this returns gives a hint; changes while nobody waits for
    /// the next hint are kept for it. It costs nothing while nothing happens. The stream ends when its task is
    /// cancelled or all repositories are gone, and is for one consumer. Throws ``FileEventsError``.
    public static func refChanges(inGitDirectories paths: [String]) async throws -> AsyncStream<RefHint> {
        try await refChanges(inGitDirectories: paths, maximumWatches: 65_536)
    }
}

/// The folders of one repository in which a change of a ref shows.
struct RefFolders: Sendable, Equatable {
    /// As the caller wrote it.
    var name: String
    /// `refs`, `packed-refs` and, unless this is a linked worktree, `HEAD` are here.
    var common: String
    /// Where a linked worktree has its own `HEAD`; else the same.
    var own: String

    /// Finds the folders of `path` without running Git (gitrepository-layout(5)).
    init(_ path: String) throws(FileEventsError) {
        func text(_ file: String) -> String? {
            (try? String(contentsOfFile: file, encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        func resolve(_ target: String, from folder: String) -> String {
            target.hasPrefix("/") ? target : folder + "/" + target
        }
        var isFolder: ObjCBool = false
        var folder = path
        let dotGit = path + "/.git"
        if FileManager.default.fileExists(atPath: dotGit) { folder = dotGit }
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), !isFolder.boolValue,
            let pointer = text(folder), pointer.hasPrefix("gitdir:")
        {
            let target = pointer.dropFirst("gitdir:".count).trimmingCharacters(in: .whitespaces)
            folder = resolve(target, from: (folder as NSString).deletingLastPathComponent)
        }
        let common = text(folder + "/commondir").map { resolve($0, from: folder) } ?? folder
        guard let realOwn = Self.real(folder), let realCommon = Self.real(common),
            FileManager.default.fileExists(atPath: realCommon + "/refs")
        else {
            throw FileEventsError(
                .notARepository,
                "\"\(path)\" is not a Git repository. Give the path of a work tree, its .git folder or a bare repository."
            )
        }
        name = path
        own = realOwn
        self.common = realCommon
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }

    /// Whether a write of this entry of `common` or `own` can be a ref change.
    static func isInteresting(_ entry: String) -> Bool {
        entry == "packed-refs" || entry == "HEAD" || entry == "refs"
    }
}
