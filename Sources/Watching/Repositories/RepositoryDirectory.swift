import Control
import Foundation
import Git

/// The repositories in the index: finds the one that a name, path, URL or clone means.
package struct RepositoryDirectory: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var name: String
        /// The path or URL as the user gave it.
        var location: String
        /// The git directory that is read; nil if unknown.
        var gitDirectory: String?
        /// Whether a daemon watches or watched it. The others were only named by a run by hand.
        var isWatched: Bool
    }

    /// By name.
    var entries: [Entry]

    func named(_ name: String) -> Entry? { entries.first { $0.name == name } }

    /// The repository at one of these places, which are tried in order. At the same place a watched one comes first.
    package func find(at places: [String], watchedOnly: Bool = false) -> Entry? {
        for key in places.map(RepositoryPlace.key) {
            let found = entries.filter { entry in
                (entry.isWatched || !watchedOnly)
                    && ([entry.location] + [entry.gitDirectory].compactMap { $0 }).map(RepositoryPlace.key).contains(
                        key)
            }
            if let best = found.first(where: \.isWatched) ?? found.first { return best }
        }
        return nil
    }

    /// Finds a repository by a name or a place that a person gave.
    ///
    /// - Parameter clone: The facts about the folder, if the text names one.
    /// - Throws: ``RequestError``, which lists the known ones.
    func find(_ text: String, _ clone: LocalClone?) throws -> Entry {
        if let entry = named(text) ?? identify(text, clone) { return entry }
        let names = entries.filter(\.isWatched).map(\.name) + entries.filter { !$0.isWatched }.map(\.name)
        let list = names.prefix(20).joined(separator: ", ")
        throw RequestError(
            .unknownRepository,
            "no repository \"\(text)\"; \(names.isEmpty ? "none is known" : "known: \(list)")"
        )
    }

    /// The repository that a location means: a watched one there, else one of which it is a work tree or a clone, else
    /// one that a run named before.
    func identify(_ location: String, _ clone: LocalClone?) -> Entry? {
        find(at: [location] + (clone?.directories ?? []), watchedOnly: true)
            ?? find(at: clone?.remotes ?? [], watchedOnly: true) ?? find(at: [location] + (clone?.directories ?? []))
    }
}

/// The facts about a local repository: its git directories and its remotes.
struct LocalClone: Sendable, Equatable {
    /// Its own git directory, and for a linked work tree the one that it shares.
    var directories: [String]
    /// URLs or absolute paths of its remotes, `origin` first.
    var remotes: [String]

    /// Nil if the folder is in no readable repository.
    static func read(_ folder: String) async -> LocalClone? {
        guard !WatchedRepository.isRemote(folder), folder.hasPrefix("/") else { return nil }
        return try? await withRepository(at: folder) { repository in
            let base = repository.workDirectory ?? repository.gitDirectory
            let remotes = try repository.remoteURLs().map { url in
                WatchedRepository.isRemote(url)
                    ? url : URL(fileURLWithPath: url, relativeTo: URL(fileURLWithPath: base)).standardizedFileURL.path
            }
            return LocalClone(directories: [repository.gitDirectory, repository.commonDirectory], remotes: remotes)
        }
    }
}
