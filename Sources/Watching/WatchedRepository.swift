import Concurrency
package import Workspaces
import Engine
import Foundation
import Git

/// A repository that the box looks at, and where its objects are.
public struct WatchedRepository: Sendable, Equatable {
    /// Short and unique on the box: the last part of the path or URL.
    public var name: String
    /// The path or URL as the user gave it.
    public var location: String
    /// The git directory that is read: the repository's own, or our mirror of a remote.
    public var gitDirectory: String
    /// Our own bare store, which borrows ``gitDirectory``'s objects and holds the merges that we test.
    public var store: String
    /// Whether ``gitDirectory`` is a mirror that must be fetched first.
    public var isRemote: Bool
    /// The git directory of a clone that has commits of its own, which ``store`` borrows, too; nil for none.
    public var clone: String?

    package init(
        name: String, location: String, gitDirectory: String, store: String, isRemote: Bool, clone: String? = nil
    ) {
        self.name = name
        self.location = location
        self.gitDirectory = gitDirectory
        self.store = store
        self.isRemote = isRemote
        self.clone = clone
    }

    /// Where its objects and refs are.
    package var source: SourceRepository {
        SourceRepository(name: name, gitDirectory: gitDirectory, store: store, clone: clone)
    }

    /// The file in which commits of the target and of changes are kept from look to look.
    var knownCommits: String { "\(store)/known-commits" }

    /// Whether `location` names a remote: a URL with a scheme, or `user@host:path`.
    public static func isRemote(_ location: String) -> Bool {
        if location.contains("://") { return true }
        guard let colon = location.firstIndex(of: ":"), !location.hasPrefix("/"), !location.hasPrefix(".") else {
            return false
        }
        return !location[..<colon].contains("/")
    }

    /// The name that a location suggests: `owner/name.git` → `name`.
    public static func name(for location: String) -> String {
        var parts = location.split(whereSeparator: { $0 == "/" || $0 == ":" }).map(String.init)
        if parts.last == ".git" { parts.removeLast() }
        var name = parts.last ?? "repository"
        if name.hasSuffix(".git") { name.removeLast(4) }
        let usable = name.filter { $0.isLetter || $0.isNumber || "-_.".contains($0) }
        return usable.isEmpty || usable.hasPrefix(".") ? "repository" : String(usable.prefix(100))
    }

    /// Opens a location: checks that it can be served, makes our store, and for a remote our mirror.
    ///
    /// - Throws: `GitError` with the reason and the remedy.
    package static func open(_ location: String, named name: String, mirrors: String) async throws -> WatchedRepository
    {
        let mirror = "\(mirrors)/\(name).git"
        let store = "\(mirrors)/\(name).merges.git"
        let isRemote = isRemote(location)
        let path = isRemote ? mirror : URL(fileURLWithPath: location).path
        let gitDirectory = try await offThread { () throws in
            try FileManager.default.createDirectory(atPath: mirrors, withIntermediateDirectories: true)
            if isRemote && !FileManager.default.fileExists(atPath: "\(mirror)/HEAD") {
                _ = try Repository.create(bareAt: mirror)
            }
            let watched = try Repository(opening: path)
            // Opening also renews the alternates, should the repository have moved.
            let own = try Repository.create(bareAt: store, borrowing: watched.gitDirectory)
            own.forgetTorn(under: RunPin.prefix)
            MergeScratch.clear(ChangeMerger.scratchFolder(store))
            return watched.gitDirectory
        }
        return WatchedRepository(
            name: name, location: isRemote ? location : path, gitDirectory: gitDirectory, store: store,
            isRemote: isRemote)
    }

    /// The same repository with the objects of a clone: for a run by hand of commits that nobody has pushed.
    ///
    /// Which code is merged is decided by ``gitDirectory`` as before: what the branches of a clone are called says
    /// nothing.
    ///
    /// - Parameter path: The clone's folder.
    package func joined(by path: String, mirrors: String) async throws -> WatchedRepository {
        var joined = self
        let (store, watched) = (CloneStores(mirrors: mirrors).path(for: path, of: name), gitDirectory)
        joined.store = store
        joined.clone = try await offThread { () throws in
            let clone = try Repository(opening: path)
            let own = try Repository.create(bareAt: store, borrowing: [clone.commonDirectory, watched])
            own.forgetTorn(under: RunPin.prefix)
            MergeScratch.clear(ChangeMerger.scratchFolder(store))
            return clone.commonDirectory
        }
        return joined
    }
}
