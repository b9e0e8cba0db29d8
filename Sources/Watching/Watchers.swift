package import Control
import Foundation
import Synchronization

/// The watchers of this process, by the name of their repository.
package final class Watchers: Sendable {
    private let state = Mutex<[String: RepositoryWatcher]>([:])

    package init() {}

    package var byName: [String: RepositoryWatcher] { state.withLock { $0 } }
    package var all: [RepositoryWatcher] { Array(byName.values) }
    package var isEmpty: Bool { byName.isEmpty }

    package subscript(_ name: String) -> RepositoryWatcher? { state.withLock { $0[name] } }

    package func add(_ watcher: RepositoryWatcher) { state.withLock { $0[watcher.repository.name] = watcher } }

    /// Wakes the watchers of the repository at `path`, or all of them.
    ///
    /// - Parameter path: The watched location, the repository's name, or its git directory; nil for all.
    /// - Throws: ``RequestError`` if no such repository is watched.
    package func wakeUp(at path: String?) throws -> CompletedAction {
        let all = all
        guard let path else {
            for watcher in all { watcher.wakeUp() }
            return .looking(repositories: all.map(\.repository.name).sorted(), all: true)
        }
        let wanted = URL(fileURLWithPath: path).standardizedFileURL.path
        let found = all.filter { watcher in
            let repository = watcher.repository
            return repository.location == path || repository.location == wanted || repository.name == path
                || repository.gitDirectory == wanted || repository.gitDirectory == wanted + "/"
                || repository.gitDirectory == wanted + "/.git/"
        }
        guard !found.isEmpty else {
            let known = all.map(\.repository.location).sorted().joined(separator: ", ")
            throw RequestError(
                .unknownRepository,
                "\(path) is not watched; the daemon watches \(known.isEmpty ? "nothing" : known)")
        }
        for watcher in found { watcher.wakeUp() }
        return .looking(repositories: found.map(\.repository.name), all: false)
    }
}
