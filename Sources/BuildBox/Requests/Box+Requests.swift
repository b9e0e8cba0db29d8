import StateFiles
public import Control
import Archive
import Results
public import Store

import Engine
import Foundation
import Git
import Pipeline

extension Box {
    /// Answers one request; the same for a command in this process and one at the other end of the socket.
    /// - Parameter user: Who asks: the owner of this process, or by the kernel's word whoever is at the other end.
    public func answer(
        _ request: DaemonRequest, by user: UInt32, reply: @Sendable (DaemonReply) async throws -> Void
    ) async throws {
        noteActivity()
        do {
            switch request {
            case .status: try await reply(.status(status()))
            case .settings: try await reply(.settings(options.settings))
            case .look(let path): try await reply(.completed(look(path)))
            case .start(let start):
                let outcome = try await self.start(start)
                try await reply(.accepted(outcome.run.id, isNew: outcome.isNew))
            case .follow(let id): try await follow(id, reply)
            case .wait(let wanted): try await wait(wanted, reply)
            case .cancel(let id, let reason): try await reply(.completed(.cancelled(id, cancel(id, reason: reason))))
            case .approve(let approve): try await reply(.completed(self.approve(approve, user: user)))
            case .rerun(let wanted):
                let outcome = try await rerun(wanted)
                try await reply(.accepted(outcome.run.id, isNew: outcome.isNew))
            case .runs(let query): try await reply(.runs(index.runs(filter(query)).map(board.withQuestion)))
            case .run(let id): try await reply(.run(detail(id)))
            case .find(let question): try await reply(.found(find(question)))
            case .bundle(let wanted): try await reply(.bundle(bundle(wanted)))
            case .testHistory(let text, let filter): try await reply(.appearances(history(of: text, named(filter))))
            case .flakyTests(let filter): try await reply(.flaky(index.flakyTests(named(filter), plotted: 100)))
            case .slowestTests(let filter, let count):
                try await reply(.slowest(index.slowestTests(named(filter), count: min(count, 1_000))))
            case .trends(let tests, let filter):
                let names = tests.prefix(200).map { (suite: $0.suite, name: $0.name) }
                try await reply(.trends(index.trends(names, filter)))
            case .compare(let run, let other): try await reply(.comparison(compare(run, with: other)))
            case .collect(let collect): try await reply(.collected(self.collect(collect)))
            case .verifyArchive:
                try await reply(.problems(store.verify(index).map { "\($0)" }))
            case .repository(let place): try await reply(.repository(facts(of: place)))
            case .integrityPolicy(let place): try await reply(.integrityPolicy(integrityPolicy(of: place)))
            case .parameters(let start): try await reply(.parameters(parameters(of: start)))
            case .why(let start): try await reply(.reasons(why(start)))
            case .proofs: try await reply(.proofs(proofStatus()))
            case .trustProofs(let step, let repository):
                try await reply(.completed(trustProofs(of: step, in: repository)))
            case .pushArchive(let remote):
                let count = try await store.push(to: remote)
                try await reply(.completed(.pushed(refs: count, remote: remote)))
            case .protect(let branch, let repository):
                try await reply(.completed(protect(branch, of: repository, user: user)))
            case .bisect(let wanted):
                try await withoutActuallyEscaping(reply) { reply in
                    _ = try await bisect(wanted) { try await reply(.bisect($0)) }
                }
            case .fix(let run):
                try await withoutActuallyEscaping(reply) { reply in
                    try await fix(run) { try await reply(.fix($0)) }
                }
            }
        } catch {
            guard let refusal = RequestError(refusing: error) else { throw error }
            try await reply(.refused(refusal))
        }
    }

    private func status() async throws -> DaemonStatus {
        var known: [DaemonStatus.Repository] = []
        for (name, location) in try await index.repositories().sorted(by: { $0.key < $1.key }) {
            let changes = try await index.changes(of: name, states: [.open, .stale, .conflict])
            var repository = DaemonStatus.Repository(
                name: name, location: location, isWatched: watchers[name] != nil,
                changes: Dictionary(grouping: changes, by: \.state.rawValue).mapValues(\.count))
            (repository.target, repository.advice) = await watchers[name]?.targets.words ?? (nil, nil)
            known.append(repository)
        }
        return DaemonStatus(
            version: Report.Box.version, processID: ProcessInfo.processInfo.processIdentifier, slots: options.slots,
            repositories: known, running: board.all,
            queued: try await index.runs(RunFilter(states: [.queued], limit: 200)).filter { $0.heldFor == nil }
                .reversed(),
            held: try await held(),
            obstacle: await obstacle(), freeBytes: DiskSpace.free(at: state.path),
            state: state.path, machine: await sandboxing().machine)
    }

    private func look(_ path: String?) throws -> CompletedAction {
        guard let path else {
            for watcher in watchers.values { watcher.wakeUp() }
            return .looking(repositories: watchers.keys.sorted(), all: true)
        }
        let wanted = URL(fileURLWithPath: path).standardizedFileURL.path
        let found = watchers.values.filter { watcher in
            let repository = watcher.repository
            return repository.location == path || repository.location == wanted || repository.name == path
                || repository.gitDirectory == wanted || repository.gitDirectory == wanted + "/"
                || repository.gitDirectory == wanted + "/.git/"
        }
        guard !found.isEmpty else {
            let all = watchers.values.map(\.repository.location).sorted().joined(separator: ", ")
            throw RequestError(
                .unknownRepository, "\(path) is not watched; the daemon watches \(all.isEmpty ? "nothing" : all)")
        }
        for watcher in found { watcher.wakeUp() }
        return .looking(repositories: found.map(\.repository.name), all: false)
    }

    /// Accepts a run by hand.
    public func start(_ start: StartRequest) async throws -> EnqueueOutcome {
        let (request, repository) = try await request(start)
        try await checkLimits(of: request, in: repository)
        try await checkParts(of: request, in: repository)
        return try await accept(request)
    }

    /// What a run by hand is about: its commits and where they are, as yet without its options.
    func subject(of start: StartRequest) async throws -> (RunRequest, WatchedRepository) {
        let repository =
            if let name = start.repository {
                try await self.repository(named: self.name(of: name))
            } else {
                try await identify(start.location)
            }
        do {
            return try await byHand(start, in: repository)
        } catch let error as RequestError where error.code == .unknownChange {
            // A clone has no pull requests, and its branches are nobody's changes: they are where it comes from.
            guard let origin = start.origin, let there = try await repositoryAtOrigin(origin) else { throw error }
            return try await byHand(start, in: there)
        }
    }

    /// What a run by hand is to do.
    func request(_ start: StartRequest) async throws -> (request: RunRequest, repository: WatchedRepository) {
        let (found, repository) = try await subject(of: start)
        var request = found
        request.parameters = start.parameters
        let tests = start.tests ?? []
        if !tests.isEmpty { request.onlyTests = try await self.tests(named: tests, in: repository.name) }
        request.onlySteps = start.steps.isEmpty ? nil : start.steps
        request.isForeground = start.isForeground ? true : nil
        request.refusesProofs = start.refusesProofs ? true : nil
        request.isClean = start.isClean ? true : nil
        request.isForAgent = start.isForAgent ? true : nil
        // A wrong name, parameter or definition is refused here, where the person still is.
        let declaration = try await declaration(of: request, in: repository)
        request.runsAtMostOnce = request.runsAtMostOnce || declaration.runsAtMostOnce
        request.concurrency = declaration.concurrency ?? .queue(max: 1_000)
        request.parameters = try RunPreparation.parameters(of: declaration, given: start.parameters)
        return (request, repository)
    }

    /// What a run by hand is to do, and where its commits are.
    private func byHand(
        _ start: StartRequest, in repository: WatchedRepository
    ) async throws -> (RunRequest, WatchedRepository) {
        let watcher = watchers[repository.name]
        var rules = try await rules(for: repository)
        if case .change(let name) = start.subject, watcher == nil {
            // What was a change when it was watched is one still.
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
            (watched, subject) = (try await self.repository(named: repository.name), try await clone.shared(subject))
        }
        let request = try await withRepository(at: watched.gitDirectory) { [watched, subject] git in
            try RunRequest.byHand(
                subject, workflow: workflow, in: git, watched, known)
        }
        return (request, watched)
    }

    /// The repository that a clone came from, where the box knows it.
    private func repositoryAtOrigin(_ origin: String) async throws -> WatchedRepository? {
        let key = RepositoryPlace.key(origin)
        let known = try await index.repositories().sorted { $0.key < $1.key }
        guard let (name, location) = known.first(where: { RepositoryPlace.key($0.value) == key }) else { return nil }
        return try await open(location, named: name)
    }

    private func rerun(_ wanted: RerunRequest) async throws -> EnqueueOutcome {
        let id = wanted.run
        guard let run = try await index.run(id) else { throw unknown(id) }
        guard run.summary.state == .ended else {
            throw RequestError(.usage, "run \(id) has not ended; cancel it with `pipectl cancel \(id)`, then rerun it")
        }
        var request = run.request
        if let role = request.fix, role.isMaking {
            throw RequestError(.usage, "run \(id) is \(role.inWords); `pipectl fix \(role.of)` tries again")
        }
        // Repeated by hand, it decides about no fix.
        request.fix = nil
        request.rerunOf = id
        request.isForAgent = wanted.isForAgent ? true : nil
        (request.warmRun, request.warmFailed) = (nil, nil)
        request.refusesProofs = wanted.usesProofs ? nil : true
        request.isClean = wanted.isClean ? true : nil
        // A person waits for it now.
        request.upkeep = nil
        request.resumes = nil
        let origin = run.request.origin ?? id
        (request.origin, request.repetition) = (origin, try await index.repetitions(of: origin) + 2)
        request.nonce = "rerun of \(id) at \(Date().timeIntervalSince1970)"
        if wanted.failedOnly {
            let failed = run.steps.filter { $0.status != .passed && $0.status != .skipped }.map(\.name)
            guard !failed.isEmpty else {
                throw RequestError(.usage, "no step of run \(id) failed; leave out --failed to repeat it whole")
            }
            if wanted.isClean || !wanted.steps.isEmpty {
                request.onlySteps = failed
            } else {
                // The same plan: what passed is taken over with the workspace, and what was skipped has its turn.
                request.resumes = id
            }
        }
        if !wanted.steps.isEmpty {
            request.onlySteps = wanted.steps
            try await checkParts(of: request, in: try await self.repository(of: request))
        }
        if wanted.isForAgent {
            try await checkLimits(
                of: request, in: try await repository(named: request.repository), earlier: run.summary.trust)
        }
        return try await accept(request)
    }

    private func unknown(_ id: RunID) -> RequestError {
        RequestError.unknownRun(id)
    }

    private func detail(_ id: RunID) async throws -> RunDetail {
        guard let run = try await index.run(id) else { throw unknown(id) }
        let queue = run.summary.state == .queued ? try await index.queued() : []
        return RunDetail(
            summary: run.summary, live: board.run(id), behind: queue.firstIndex { $0.id == id },
            held: Report(held: run))
    }

    /// Sends each state of the run until it has ended.
    private func follow(_ id: RunID, _ reply: @Sendable (DaemonReply) async throws -> Void) async throws {
        var revision = 0
        var lastBehind = -1
        while true {
            try Task.checkCancellation()
            let seen = board.changes
            if let live = await board.next(id, after: revision), live.revision != revision {
                revision = live.revision
                try await reply(.progress(.live(live)))
                // A state names every step, and each event makes a new one: of long runs they are sent less often.
                if live.steps.count > 16 {
                    let pause = Duration.milliseconds(min(live.steps.count / 8, 100))
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await self.board.waitForEnd(of: id) }
                        group.addTask { try? await Task.sleep(for: pause) }
                        await group.next()
                        group.cancelAll()
                    }
                }
                continue
            }
            guard let run = try await index.run(id) else { throw unknown(id) }
            if run.summary.state == .ended, let verdict = run.summary.verdict {
                try await reply(.progress(.ended(verdict, reason: run.summary.reason ?? "")))
                return
            }
            if let why = run.summary.heldFor {
                // Nobody knows when a person will look: who waits for the verdict is told now.
                try await reply(.progress(.ended(.needsApproval, reason: why)))
                return
            }
            if run.summary.state == .queued {
                let queue = try await index.queued()
                if let first = queue.first(where: { $0.id == id })?.waitsFor,
                    try await index.run(first)?.summary.heldFor != nil
                {
                    // Runs of one subject keep their order, also while the first of them waits for a person.
                    let why = "waiting for run \(first), which needs approval: \(Approval.command(first))"
                    try await reply(.progress(.ended(.needsApproval, reason: why)))
                    return
                }
                let behind = queue.firstIndex { $0.id == id } ?? 0
                if behind != lastBehind { try await reply(.progress(.queued(behind: behind))) }
                lastBehind = behind
            }
            // The place in the queue changes without the run, so that is looked at again after a while.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.board.waitForChange(of: id, since: seen) }
                group.addTask { try? await Task.sleep(for: .seconds(2)) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    private func collect(_ request: CollectRequest) async throws -> CollectReply {
        let plan = try await store.plan(request.policy, index)
        var stores = try await abandonedStores()
        if !request.isDryRun {
            try await store.apply(plan, index)
            stores = try await remove(stores)
        }
        return CollectReply(plan: plan, isDryRun: request.isDryRun, stores: stores)
    }
}

extension RunRequest {
    /// The request for a run that a person wants, from what they named.
    static func byHand(
        _ subject: StartRequest.Subject, workflow: String, in git: Repository, _ repository: WatchedRepository,
        _ rules: TrustRules
    ) throws -> RunRequest {
        let nonce = "by hand at \(Date().timeIntervalSince1970)-\(UInt32.random(in: 0 ... .max))"
        switch subject {
        case .workingTree(let commit):
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .manual, ref: "", branch: nil, head: commit,
                definitionCommit: commit, previous: try? git.resolve("HEAD").hex, nonce: nonce,
                subject: "working tree", concurrency: .queue(max: 1_000))
        case .revision(let revision):
            let commit = try git.resolve(revision)
            let snapshot = try git.snapshot()
            let refs = snapshot.refs
            let protected = ProtectedBranches.read(snapshot, rules)
            // What nobody has merged is run by the rules of the default branch.
            let definition = try protected.holder(of: commit, in: git) == nil ? protected.defaultTip : nil
            let ref = ["refs/heads/\(revision)", "refs/tags/\(revision)", revision].first { refs[$0] != nil }
            let branch = ref.flatMap { $0.hasPrefix("refs/heads/") ? String($0.dropFirst("refs/heads/".count)) : nil }
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .manual, ref: ref ?? revision,
                branch: branch, head: commit.hex, definitionCommit: (definition ?? commit).hex, nonce: nonce,
                subject: ref ?? revision, concurrency: .queue(max: 1_000))
        case .change(let name):
            let snapshot = try git.snapshot()
            var changeRefs = rules.changeRefs
            changeRefs.numbered = changeRefs.numbering(by: snapshot.refs)
            let meant = changeRefs.meanings(of: name).filter { snapshot.refs[$0.ref] != nil }
            guard meant.count < 2 else { throw ChangeRefs.ambiguous(name, in: repository.name, meant) }
            let name = meant.first?.name ?? name
            guard let (ref, head) = snapshot.refs.first(where: { changeRefs.kind(of: $0.key) == .change(name) })
            else {
                let names = snapshot.refs.keys.compactMap {
                    if case .change(let name) = changeRefs.kind(of: $0) { name } else { nil }
                }
                throw RequestError(
                    .unknownChange,
                    "\(repository.location) has no change \"\(name)\"; it has \(names.isEmpty ? "none" : "\(names.count), for example \(names.sorted().prefix(3).joined(separator: ", "))")"
                )
            }
            guard let branch = rules.target.branch(in: snapshot.refs)?.name,
                let tip = snapshot.refs["refs/heads/\(branch)"]
            else {
                throw RequestError(
                    .unknownTarget,
                    "the target branch of change \(name) is not known; name it: `pipectl protect BRANCH --repository \(repository.name)`"
                )
            }
            let commit = try git.commit(head)
            return RunRequest(
                repository: repository.name, workflow: workflow, event: .pullRequest, ref: ref, branch: branch,
                head: head.hex, definitionCommit: tip.hex,
                change: Change(
                    name: name, head: head.hex, target: branch, targetCommit: tip.hex, title: commit.summary,
                    author: commit.author.name),
                nonce: nonce, subject: "change \(name)", concurrency: .queue(max: 1_000))
        }
    }
}

extension RunFilter {
    init(_ query: RunsQuery) {
        self.init(
            repository: query.repository, workflow: query.workflow, change: query.change, branch: query.branch,
            commitPrefix: query.commit, states: query.states.isEmpty ? nil : Set(query.states),
            verdicts: query.verdicts.isEmpty ? nil : Set(query.verdicts), since: query.since, before: query.before,
            limit: query.limit)
    }
}
