import StateFiles
import Control
import Foundation
import Git
package import Results
package import Store

/// The repositories that the daemon knows, and the rules by which their runs are judged.
package struct KnownRepositories: Sendable {
    package let registry: RepositoryRegistry
    package let index: Store.Index
    package let watchers: Watchers
    /// The folder for pipectl's stores and mirrors.
    package let mirrors: String
    package let trust: TrustPolicy

    package init(
        registry: RepositoryRegistry, index: Store.Index, watchers: Watchers, mirrors: String, trust: TrustPolicy
    ) {
        self.registry = registry
        self.index = index
        self.watchers = watchers
        self.mirrors = mirrors
        self.trust = trust
    }

    /// Opens a repository and registers it; a second call for the same location returns the same one.
    package func open(
        _ location: String, named name: String? = nil, preferring wish: String? = nil
    ) async throws -> WatchedRepository {
        try await registry.open(location, named: name, preferring: wish)
    }

    /// The repositories in the index.
    package func directory() async throws -> RepositoryDirectory {
        let watched = try await index.watchedRepositories()
        let known = await registry.all
        return RepositoryDirectory(
            entries: try await index.repositories().sorted { $0.key < $1.key }.map { name, location in
                .init(
                    name: name, location: location, gitDirectory: known[name]?.gitDirectory,
                    isWatched: watched.contains(name) || watchers[name] != nil)
            })
    }

    /// The repository that a location means. A clone of a watched repository means that one, with the clone's objects.
    package func identify(_ location: String) async throws -> WatchedRepository {
        let clone = await LocalClone.read(location)
        guard let entry = try await directory().identify(location, clone) else { return try await open(location) }
        let repository = try await open(entry.location, named: entry.name)
        let own = [repository.location, repository.gitDirectory].map(RepositoryPlace.key)
        let here = ([location] + (clone?.directories ?? [])).map(RepositoryPlace.key)
        if clone == nil || here.contains(where: own.contains) { return repository }
        return try await repository.joined(by: location, mirrors: mirrors)
    }

    /// The name of a repository that a person gave as a name, a path or a URL.
    ///
    /// - Throws: ``RequestError``, which lists the known ones.
    package func name(of text: String) async throws -> String {
        try await directory().find(text, LocalClone.read(text)).name
    }

    package func repository(named name: String) async throws -> WatchedRepository {
        if let known = await registry.all[name] { return known }
        guard let location = try await index.repositories()[name] else {
            throw RequestError(.unknownRepository, "no repository \"\(name)\"; `pipectl status --all` lists them")
        }
        return try await open(location, named: name)
    }

    /// The repository that has the commits of a run.
    package func repository(of request: RunRequest) async throws -> WatchedRepository {
        let repository = try await repository(named: request.repository)
        guard let source = request.source else { return repository }
        return try await repository.joined(by: source, mirrors: mirrors)
    }

    /// The repository that a clone came from, if it is known.
    package func repository(atOrigin origin: String) async throws -> WatchedRepository? {
        let key = RepositoryPlace.key(origin)
        let known = try await index.repositories().sorted { $0.key < $1.key }
        guard let (name, location) = known.first(where: { RepositoryPlace.key($0.value) == key }) else { return nil }
        return try await open(location, named: name)
    }

    /// The rules for the runs of a repository, whether it is watched or not.
    package func rules(for repository: WatchedRepository) async throws -> TrustRules {
        var rules = await watchers[repository.name]?.trustRules ?? TrustRules(policy: trust)
        rules.changeRefs.isAtForge = try await index.isAtForge(repository.name)
        rules.changeRefs.numbered = try await index.numberedRefs(of: repository.name)
        rules.target.remembered = try await index.target(of: repository.name)
        rules.target.missing = try await index.missingTarget(of: repository.name)
        if rules.target.remembered == nil, !repository.isRemote {
            // No watcher has observed it yet, so its present refs decide for this run alone. A mirror has none before
            // it was fetched.
            let changeRefs = rules.changeRefs
            rules.target.remembered = try await withRepository(at: repository.gitDirectory) { git in
                TargetRule.first(
                    head: try git.mainBranch(), refs: try git.snapshot(under: "refs/heads/").refs, rules: changeRefs)
            }
        }
        return rules
    }
}
