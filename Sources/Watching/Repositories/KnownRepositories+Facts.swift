import DaemonLog
package import Control
import Foundation
import Git
package import Logging
package import Results
import Store

/// Finds repositories by a name, a path, a URL or a clone.
extension KnownRepositories {
    package func facts(of text: String) async throws -> RepositoryFacts {
        let repository = try await repository(named: name(of: text))
        let rules = try await rules(for: repository)
        return RepositoryFacts(
            name: repository.name, location: repository.location, gitDirectory: repository.gitDirectory,
            isWatched: watchers[repository.name] != nil, changePatterns: rules.changeRefs.branchPatterns,
            target: rules.target.named ?? rules.target.remembered?.name)
    }

    /// - Throws: ``RequestError`` for an unknown repository: an empty list would mean that it had no runs.
    package func filter(_ query: RunsQuery) async throws -> RunFilter {
        var filter = RunFilter(query)
        filter.hidesUpkeep = query.hidesBackground == true
        if let text = query.repository { filter.repository = try await name(of: text) }
        return filter
    }

    package func named(_ filter: TestFilter) async throws -> TestFilter {
        guard let text = filter.repository else { return filter }
        var filter = filter
        filter.repository = try await name(of: text)
        return filter
    }

    /// Sets the protected branch of a repository on a person's request.
    ///
    /// - Parameter name: The repository's name; nil if only one is known.
    /// - Throws: ``RequestError`` if the repository or the branch does not exist.
    package func protect(_ branch: String, of name: String?, user: UInt32, log: Logger) async throws -> CompletedAction
    {
        let known = try await index.repositories()
        guard let chosen = name ?? (known.count == 1 ? known.keys.first : nil), known[chosen] != nil else {
            let all = known.keys.sorted().joined(separator: ", ")
            throw RequestError(
                .unknownRepository,
                "\(name.map { "no repository \"\($0)\"" } ?? "there is more than one repository"); name one with --repository: \(all.isEmpty ? "none is known yet" : all)"
            )
        }
        let repository = try await repository(named: chosen)
        let exists = try await withRepository(at: repository.gitDirectory) {
            try $0.ref("refs/heads/\(branch)") != nil
        }
        guard exists else {
            throw RequestError(
                .usage, "\(chosen) has no branch \"\(branch)\"; push it first, or name one that exists")
        }
        try await index.setTarget(branch, of: chosen)
        log.notice(
            "\(chosen): the protected branch is \(branch), by \(UserName.of(user))",
            metadata: .code(.protectedBranch, repository: chosen))
        await watchers[chosen]?.lookAnew()
        return .protected(branch: branch, repository: chosen)
    }
}

extension RunFilter {
    package init(_ query: RunsQuery) {
        self.init(
            repository: query.repository, workflow: query.workflow, change: query.change, branch: query.branch,
            commitPrefix: query.commit, states: query.states.isEmpty ? nil : Set(query.states),
            verdicts: query.verdicts.isEmpty ? nil : Set(query.verdicts), since: query.since, before: query.before,
            limit: query.limit)
    }
}
