import Control
import Results
import Foundation
import Git

/// Questions in which a repository is named by a name, a path, a URL or a clone.
extension Box {
    func facts(of text: String) async throws -> RepositoryFacts {
        let repository = try await repository(named: name(of: text))
        let rules = try await rules(for: repository)
        return RepositoryFacts(
            name: repository.name, location: repository.location, gitDirectory: repository.gitDirectory,
            isWatched: watchers[repository.name] != nil, changePatterns: rules.changeRefs.branchPatterns,
            target: rules.target.named ?? rules.target.remembered?.name)
    }

    /// - Throws: ``RequestError`` for a repository that is not known: an empty list would say that it had no runs.
    func filter(_ query: RunsQuery) async throws -> RunFilter {
        var filter = RunFilter(query)
        filter.hidesUpkeep = query.hidesBackground == true
        if let text = query.repository { filter.repository = try await name(of: text) }
        return filter
    }

    func named(_ filter: TestFilter) async throws -> TestFilter {
        guard let text = filter.repository else { return filter }
        var filter = filter
        filter.repository = try await name(of: text)
        return filter
    }
}
