import Concurrency
package import Workspaces
import Engine
import Foundation
import Git

/// A repository that the daemon watches or runs, with the places of its objects.
public struct WatchedRepository: Sendable, Equatable {
    /// A short name, unique on the daemon: by default the last component of the path or URL.
    public var name: String
    /// The path or URL as the user gave it.
    public var location: String
    /// The git directory that is read: the repository's own, or pipectl's mirror of a remote.
    public var gitDirectory: String
    /// pipectl's own bare store. It borrows the objects of ``gitDirectory`` and contains the tested merges.
    public var store: String
    /// Whether ``gitDirectory`` is a mirror that must be fetched before it is read.
    public var isRemote: Bool
    /// The git directory of a clone with commits of its own, whose objects ``store`` borrows too; nil for none.
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

    /// The places of its objects and refs.
    package var source: SourceRepository {
        SourceRepository(name: name, gitDirectory: gitDirectory, store: store, clone: clone)
    }

    /// The file that caches commits of the target and of changes from one observation to the next.
    var knownCommits: String { "\(store)/known-commits" }

    /// Whether `location` names a remote: a URL with a scheme, or `user@host:path`.
    public static func isRemote(_ location: String) -> Bool {
        if location.contains("://") { return true }
        guard let colon = location.firstIndex(of: ":"), !location.hasPrefix("/"), !location.hasPrefix(".") else {
            return false
        }
        return !location[..<colon].contains("/")
    }

    /// The name derived from a location: `owner/name.git` → `name`.
    public static func name(for location: String) -> String {
        var parts = location.split(whereSeparator: { $0 == "/" || $0 == ":" }).map(String.init)
        if parts.last == ".git" { parts.removeLast() }
        var name = parts.last ?? "repository"
        if name.hasSuffix(".git") { name.removeLast(4) }
        let usable = name.filter { $0.isLetter || $0.isNumber || "-_.".contains($0) }
        return usable.isEmpty || usable.hasPrefix(".") ? "repository" : String(usable.prefix(100))
    }

    /// Opens a location: checks that it can be watched, and creates the store and, for a remote, the mirror.
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
            // Opening also updates the alternates, in case the repository has moved.
            let own = try Repository.create(bareAt: store, borrowing: watched.gitDirectory)
            own.forgetTorn(under: RunPin.prefix)
            MergeScratch.clear(ChangeMerger.scratchFolder(store))
            if noted(in: store) != location {
                // Without it, only an index that is lost makes a difference.
                try? Data(location.utf8).write(to: URL(fileURLWithPath: "\(store)/\(locationFile)"), options: .atomic)
            }
            return watched.gitDirectory
        }
        return WatchedRepository(
            name: name, location: isRemote ? location : path, gitDirectory: gitDirectory, store: store,
            isRemote: isRemote)
    }

    /// The file of a store that names the location. It remembers whose the store is when the index has forgotten it.
    private static let locationFile = "location"

    /// The location of the repository that has this name; nil if there is none.
    ///
    /// A store that was made before locations were noted names the repository whose objects it borrows.
    static func location(of name: String, mirrors: String) -> String? {
        let store = "\(mirrors)/\(name).merges.git"
        if let noted = noted(in: store) { return noted }
        let lenders = try? String(contentsOfFile: "\(store)/objects/info/alternates", encoding: .utf8)
        guard let objects = lenders?.split(separator: "\n").first, objects.hasSuffix("/objects") else { return nil }
        let folder = objects.dropLast("/objects".count)
        // Of a remote it is pipectl's own mirror, which does not tell whose it is.
        if folder.hasSuffix("/\(name).git"), FileManager.default.fileExists(atPath: "\(mirrors)/\(name).git") {
            return nil
        }
        return String(folder.hasSuffix("/.git") ? folder.dropLast("/.git".count) : folder)
    }

    private static func noted(in store: String) -> String? {
        try? String(contentsOfFile: "\(store)/\(locationFile)", encoding: .utf8)
    }

    /// The same repository with the objects of a clone, for a run by hand of unpushed commits.
    ///
    /// ``gitDirectory`` still decides which code is merged: the names of a clone's branches prove nothing.
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
