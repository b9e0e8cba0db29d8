import DaemonLog
import Git
import LandedChanges
import Logging
import Pipeline
import Results
import Store
import Synchronization
import WorkflowPrograms

/// Turns news about refs into accepted runs: gathers what ``Decision`` needs, decides, and records it.
final class DecisionMaker: Sendable {
    private let repository: WatchedRepository
    private let host: any WatchHost
    private let index: Store.Index
    private let log: Logger
    private let saidNoWorkflows = Atomic(false)

    init(_ repository: WatchedRepository, host: any WatchHost, index: Store.Index, log: Logger) {
        (self.repository, self.host, self.index, self.log) = (repository, host, index, log)
    }

    /// What a connected forge says about the changes that a look concerns; changes of which only that is new are added.
    func withForge(
        _ news: RefNews, _ snapshot: RefSnapshot, _ rules: ChangeRefs
    ) async throws -> (RefNews, ChangeNews) {
        var heads: [String: String] = [:]
        for move in news.moves {
            guard case .change(let name) = rules.kind(of: move.name), let head = move.new else { continue }
            heads[name] = head.hex
        }
        if !heads.isEmpty { await host.learnChanges(heads, of: repository.name) }
        var forge = ChangeNews()
        var known = news.known
        for record in try await index.undecidedForgeChanges(of: repository.name) where heads[record.name] == nil {
            let refs = rules.meanings(of: record.name).map(\.ref).filter { snapshot.refs[$0] != nil }
            // What has no ref here can't be tested, and may have one at the next look.
            guard let ref = refs.first, refs.count == 1 else { continue }
            forge.undecided.append((ref, record))
            if known.contains(where: { $0.name == record.name }) { continue }
            if let change = try await index.change(record.name, of: repository.name) { known.append(change) }
        }
        let names = Set(known.map(\.name)).union(heads.keys).union(forge.undecided.map(\.record.name))
        for record in try await index.forgeChanges(of: repository.name, named: Array(names)) {
            forge.facts[record.name] = record.facts
        }
        // What is decided by is what is noted as decided, whatever comes meanwhile.
        for (_, record) in forge.undecided { forge.facts[record.name] = record.facts }
        return (RefNews(moves: news.moves, known: known), forge)
    }

    /// Decides about the news and accepts the runs.
    func decide(
        _ news: RefNews, _ forge: ChangeNews, _ snapshot: RefSnapshot, _ trust: TrustRules
    ) async throws -> [QueuedRun] {
        await host.prepareForRuns()
        let programs = try? await host.programs()
        let file = repository.knownCommits
        let (gathered, kept) = try await withRepository(at: repository.gitDirectory) { repository in
            let observation = try RefObservation.gather(
                repository, snapshot: snapshot, refChanges: news.moves, rules: trust, forge: forge, keeping: file)
            return (observation, programs.map { Self.kept(observation, $0) } ?? [:])
        }
        let observation = try await withQueueLandings(gathered.recognised(in: repository))
        say(observation.unreadable)
        let definitions = try await definitions(observation, kept)
        let name = repository.name
        let refreshes = host.makesSnapshots
        @Sendable func decision(_ commits: CommitFacts) -> Decision {
            Decision.make(
                repository: name, observation: observation, known: news.known, refreshes: refreshes,
                definition: { commit in definitions[commit] ?? .none }, commits: commits)
        }
        let made: Decision
        if definitions.values.contains(where: \.asksAboutCommits) {
            made = try await withRepository(at: repository.gitDirectory) { decision(CommitFacts(in: $0)) }
        } else {
            made = decision(.unknown)
        }
        let outcome = try await index.recordLook(
            repository: name, moved: observation.moved, requests: made.requests, changes: made.changes,
            decided: forge.decided(in: observation), heldBack: made.heldBack)
        await host.carryOut(outcome.superseded, outcome.toCancel)
        for run in outcome.queued {
            log.info(
                "\(name): run \(run.id) \(run.request.workflow), \(run.request.subjectInWords)",
                metadata: .code(.runQueued, run: run.id, repository: name))
        }
        return outcome.queued
    }

    /// Replaces the recognised landings of changes by the landings that the merge queues recorded.
    private func withQueueLandings(_ observation: RefObservation) async throws -> RefObservation {
        var observation = observation
        for index in observation.branches.indices {
            let branch = observation.branches[index]
            guard let old = branch.old else { continue }
            let known = try await host.queueLandings(of: repository.name, branch: branch.name)
            guard !known.isEmpty else { continue }
            let new = branch.new
            let landed = try await withRepository(at: repository.gitDirectory) { repository in
                try known.filter { landing in
                    try repository.contains(landing.commit) && repository.isAncestor(landing.commit, of: new)
                        && !repository.isAncestor(landing.commit, of: old)
                }
            }
            observation.branches[index].landings.removeAll { one in landed.contains { $0.change == one.change } }
            observation.branches[index].landings += landed
        }
        return observation
    }

    /// One line for each unreadable ref, up to a number that a log can take.
    private func say(_ unreadable: [RefObservation.UnreadableRef]) {
        for one in unreadable.prefix(20) {
            log.warning(
                "\(repository.name): \(one.ref) (\(one.id.short)) can't be read: \(one.reason)",
                metadata: .code(.refUnreadable, repository: repository.name))
        }
        if unreadable.count > 20 {
            log.warning(
                "\(repository.name): \(unreadable.count - 20) more refs can't be read",
                metadata: .code(.refUnreadable, repository: repository.name))
        }
    }

    /// The cached programs of the needed workflows, by their trees.
    private static func kept(_ observation: RefObservation, _ programs: ProgramCache) -> [OID: Decision.Definition] {
        var kept: [OID: Decision.Definition] = [:]
        for tree in Set(observation.definitions.values) {
            // An error is reported when the program is compiled.
            guard let program = try? programs.program(keptFor: tree.hex) else { continue }
            kept[tree] = .workflows(program.description.workflows)
        }
        return kept
    }

    /// The workflows at each commit that may define a run.
    ///
    /// - Parameter kept: The programs that are cached already.
    private func definitions(
        _ observation: RefObservation, _ kept: [OID: Decision.Definition]
    ) async throws -> [OID: Decision.Definition] {
        var byTree = kept
        for tree in Set(observation.definitions.values) where byTree[tree] == nil {
            do {
                let programs = try await host.programs()
                let sources = try await CommitWorkflows.sources(tree: tree, gitDirectory: repository.gitDirectory)
                let program = try await programs.program(for: sources)
                byTree[tree] = .workflows(program.description.workflows)
            } catch let error as DefinitionError {
                log.error(
                    "\(repository.name): workflows/ can't be used: \(error)",
                    metadata: .code(.definitionUnusable, repository: repository.name))
                byTree[tree] = error.code == .noWorkflows ? Decision.Definition.none : .broken
            }
        }
        if observation.definitions.isEmpty && !(observation.changes.isEmpty && observation.branches.isEmpty)
            && !saidNoWorkflows.exchange(true, ordering: .relaxed)
        {
            log.warning(
                "\(repository.name) has no workflows/ on the branches that moved, so nothing is tested: run `pipectl init` in a clone, commit and push",
                metadata: .code(.noWorkflows, repository: repository.name)
            )
        }
        return observation.definitions.compactMapValues { byTree[$0] }
    }
}
