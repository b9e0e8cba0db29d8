import Watching
import Running
import Preparing
import Evaluating
import Control
import Engine
import Foundation
import Git
import Pipeline
import Results
import Store

/// Makes the requests of runs by hand.
struct RunRequestMaker: Sendable {
    let index: Store.Index
    let repositories: KnownRepositories
    let definitions: WorkflowDefinitions
    let tests: TestQueries

    /// The parameters of the workflow of a run by hand, in the order of the definition. Nothing is started.
    func parameters(of start: StartRequest) async throws -> [ParameterDeclaration] {
        let (request, repository) = try await subject(of: start)
        return try await definitions.declaration(of: request, in: repository).parameters
    }

    /// The subject of a run by hand: its commits and the repository that has them, without its options.
    func subject(of start: StartRequest) async throws -> (RunRequest, WatchedRepository) {
        let repository =
            if let name = start.repository {
                try await repositories.repository(named: repositories.name(of: name))
            } else {
                try await repositories.identify(start.location)
            }
        do {
            return try await byHand(start, in: repository)
        } catch let error as RequestError where error.code == .unknownChange {
            // A clone has no pull requests, and its branches are not changes: its origin has these.
            guard let origin = start.origin, let there = try await repositories.repository(atOrigin: origin) else {
                throw error
            }
            return try await byHand(start, in: there)
        }
    }

    /// The complete request of a run by hand.
    func request(_ start: StartRequest) async throws -> (request: RunRequest, repository: WatchedRepository) {
        let (found, repository) = try await subject(of: start)
        var request = found
        request.parameters = start.parameters
        let tests = start.tests ?? []
        if !tests.isEmpty { request.onlyTests = try await self.tests.known(named: tests, in: repository.name) }
        request.onlySteps = start.steps.isEmpty ? nil : start.steps
        request.options.isForeground = start.isForeground
        request.options.refusesProofs = start.refusesProofs
        request.options.isClean = start.isClean
        request.options.isForAgent = start.isForAgent
        // A wrong name, parameter or definition is refused here, while the user is still waiting.
        let declaration = try await definitions.declaration(of: request, in: repository)
        request.runsAtMostOnce = request.runsAtMostOnce || declaration.runsAtMostOnce
        request.concurrency = declaration.concurrency ?? .queue(max: 1_000)
        request.parameters = try RunPreparation.parameters(of: declaration, given: start.parameters)
        return (request, repository)
    }

    /// The complete request of a run by hand, and the repository that has its commits.
    private func byHand(
        _ start: StartRequest, in repository: WatchedRepository
    ) async throws -> (RunRequest, WatchedRepository) {
        let watcher = repositories.watchers[repository.name]
        var rules = try await repositories.rules(for: repository)
        if case .change(let name) = start.subject, watcher == nil {
            // A branch that the watcher recorded as a change still is one.
            let isBranch = try await index.change(name, of: repository.name) != nil && Int(name) == nil
            if isBranch, var known = try? ChangeRefs(branch: name) {
                known.numbered = rules.changeRefs.numbered
                rules.changeRefs = known
            }
        }
        let (known, workflow) = (rules, start.workflow)
        var (watched, subject) = (repository, start.subject)
        if repository.clone != nil {
            let clone = CloneSubject(folder: start.location, repository: repository, rules: rules)
            if let request = try await clone.request(for: subject, workflow: workflow) { return (request, repository) }
            (watched, subject) = (
                try await repositories.repository(named: repository.name), try await clone.shared(subject)
            )
        }
        let request = try await withRepository(at: watched.gitDirectory) { [watched, subject] git in
            try RunRequest.byHand(
                subject, workflow: workflow, in: git, watched, known)
        }
        return (request, watched)
    }
}
