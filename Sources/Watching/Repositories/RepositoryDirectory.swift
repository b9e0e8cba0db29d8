import Control
import Foundation
import Git

/// The repositories that the index knows: which of them a name, path, URL or clone means.
package struct RepositoryDirectory: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var name: String
        /// The path or URL as it was given.
        var location: String
        /// Where it is read; nil where that is not known.
        var gitDirectory: String?
        /// Whether a daemon looks at it or has looked at it. The others were only named by a run by hand.
        var isWatched: Bool
    }

    /// By name.
    var entries: [Entry]

    func named(_ name: String) -> Entry? { entries.first { $0.name == name } }

    /// The repository at one of these places, which are tried in turn; at the same place a watched one comes first.
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

    /// What a person has typed: a name, or a place.
    ///
    /// - Parameter clone: What is known of the folder, where the text names one.
    /// - Throws: ``RequestError`` that lists the known ones.
    func find(_ text: String, _ clone: LocalClone?) throws -> Entry {
        if let entry = named(text) ?? identify(text, clone) { return entry }
        let names = entries.filter(\.isWatched).map(\.name) + entries.filter { !$0.isWatched }.map(\.name)
        let list = names.prefix(20).joined(separator: ", ")
        throw RequestError(
            .unknownRepository,
            "no repository \"\(text)\"; \(names.isEmpty ? "none is known" : "known: \(list)")"
        )
    }

    /// The repository that a location means: a watched one that is there; one that it is a work tree or a clone of; at
    /// last one that was only named before.
    func identify(_ location: String, _ clone: LocalClone?) -> Entry? {
        find(at: [location] + (clone?.directories ?? []), watchedOnly: true)
            ?? find(at: clone?.remotes ?? [], watchedOnly: true) ?? find(at: [location] + (clone?.directories ?? []))
    }
}

/// What a folder says about itself: where its objects are, and what it was cloned from.
struct LocalClone: Sendable, Equatable {
    /// Its git directories: its own, and the one that it shares with others as a linked work tree.
    var directories: [String]
    /// The URLs or absolute paths of its remotes, `origin` first.
    var remotes: [String]

    /// Nil where the folder is in no repository that can be read.
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
