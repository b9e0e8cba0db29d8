import Engine
import Results
package import Store
import Foundation

/// The repositories that this process has opened, by name.
///
/// A name belongs to one location permanently, and is a folder of mirrors: two locations must never get the same name.
/// So repositories are opened one after the other, however many callers there are.
package actor RepositoryRegistry {
    private let index: Store.Index
    /// The folder for pipectl's stores and mirrors.
    private let mirrors: String
    package private(set) var all: [String: WatchedRepository] = [:]
    private let gate = SerialGate()

    package init(index: Store.Index, mirrors: String) {
        self.index = index
        self.mirrors = mirrors
    }

    /// Opens a repository and registers its name; a second call for the same location returns the same one.
    ///
    /// - Parameter name: Nil for its present name, or for one derived from its location.
    /// - Throws: `GitError` if it can't be opened, `ArchiveError` if it can't be registered.
    package func open(_ location: String, named name: String?, preferring wish: String? = nil) async throws
        -> WatchedRepository
    {
        let location =
            WatchedRepository.isRemote(location) ? location : URL(fileURLWithPath: location).standardizedFileURL.path
        if let known = known(location) { return known }
        return try await gate.pass { try await openNew(location, named: name, preferring: wish) }
    }

    private func openNew(_ location: String, named name: String?, preferring wish: String?) async throws
        -> WatchedRepository
    {
        // An earlier caller may have opened the same one.
        if let known = known(location) { return known }
        let registered = try await index.repositories()
        // The index has no location of a name that it has only read in the archive.
        let places = registered.map { ($0.key, $0.value.isEmpty ? noted($0.key) : $0.value) }
        let chosen =
            name ?? places.first { Self.isSame($0.1, location) }?.0 ?? freeName(for: location, wish, registered)
        let repository = try await WatchedRepository.open(location, named: chosen, mirrors: mirrors)
        if registered[chosen] != repository.location {
            try await index.register(chosen, location: repository.location)
        }
        all[chosen] = repository
        return repository
    }

    /// Whether both are one place, also where one of them is a path with links in it.
    private static func isSame(_ one: String?, _ other: String) -> Bool {
        guard let one, one != other else { return one == other }
        guard one.hasPrefix("/"), other.hasPrefix("/") else { return false }
        return URL(fileURLWithPath: one).resolvingSymlinksInPath()
            == URL(fileURLWithPath: other).resolvingSymlinksInPath()
    }

    private func noted(_ name: String) -> String? { WatchedRepository.location(of: name, mirrors: mirrors) }

    private func known(_ location: String) -> WatchedRepository? { all.values.first { $0.location == location } }

    private func freeName(for location: String, _ wish: String?, _ registered: [String: String]) -> String {
        let base = wish ?? WatchedRepository.name(for: location)
        func isTaken(_ name: String) -> Bool {
            if all[name] != nil { return true }
            let owner = registered[name].flatMap { $0.isEmpty ? nil : $0 } ?? noted(name)
            return owner != nil && !Self.isSame(owner, location)
        }
        guard isTaken(base) else { return base }
        return (2...10_000).lazy.map { "\(base)-\($0)" }.first { !isTaken($0) }
            ?? "\(base)-\(UInt32.random(in: 0 ... .max))"
    }
}
