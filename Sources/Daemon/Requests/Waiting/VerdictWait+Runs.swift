import Watching
import Control
import Store
import Results
import Foundation
import Pipeline

/// The runs that a wait is about.
extension VerdictWait {
    /// The repositories to search; nil for all.
    func places() async throws -> Set<String>? {
        let known = try await index.repositories()
        if let name = request.repository {
            guard known[name] != nil else {
                throw RequestError(
                    .unknownRepository,
                    "no repository \"\(name)\"; known: \(known.keys.sorted().joined(separator: ", "))")
            }
            return [name]
        }
        let wanted = Set(request.locations.map(RepositoryPlace.key))
        let found = known.filter { name, location in
            wanted.contains(RepositoryPlace.key(location))
                || watchers[name].map { wanted.contains(RepositoryPlace.key($0.repository.gitDirectory)) } ?? false
        }
        return found.isEmpty ? nil : Set(found.keys)
    }

    /// Updates ``commit`` to the subject's present commit according to the last observation.
    mutating func findCommit(in places: Set<String>?) async throws {
        let names: Set<String> = if let places { places } else { Set(try await index.repositories().keys) }
        var found: [String: String] = [:]
        let what: String
        switch request.subject {
        case .run, .commit, .ref(_, commit: .some): return
        case .change(let name):
            what = "change \(name)"
            for place in names { found[place] = try await head(ofChange: name, of: place) }
        case .ref(let name, commit: nil):
            what = name
            for place in names {
                for ref in ["refs/heads/\(name)", "refs/tags/\(name)", name] where found[place] == nil {
                    found[place] = try await index.commit(at: ref, of: place)
                }
            }
        }
        guard Set(found.values).count <= 1 else {
            throw RequestError(
                .usage, "\(what) is in \(found.keys.sorted().joined(separator: " and ")): name one with --repository")
        }
        guard let head = found.values.first, head != commit else { return }
        if let commit { notes.append("\(what) has moved from \(commit.prefix(10)) to \(head.prefix(10))") }
        commit = head
    }

    /// The head of the change that a name means; nil if no observation has seen it.
    ///
    /// - Throws: ``RequestError/Code/ambiguousChange`` if a number means changes of several forges.
    private func head(ofChange text: String, of place: String) async throws -> String? {
        var refs = ChangeRefs.standard
        refs.numbered = try await index.numberedRefs(of: place)
        var found: [(meaning: ChangeRefs.Meaning, head: String?, isThere: Bool)] = []
        for meaning in refs.meanings(of: text) {
            let record = try await index.change(meaning.name, of: place)
            let tip = try await index.commit(at: meaning.ref, of: place)
            // The first observation records refs but no changes, so such a change has only a tip.
            if record != nil || tip != nil { found.append((meaning, record?.head ?? tip, tip != nil)) }
        }
        // A change whose ref was deleted gives way to one that still exists.
        if found.contains(where: { $0.isThere }) { found.removeAll { !$0.isThere } }
        guard found.count < 2 else { throw ChangeRefs.ambiguous(text, in: place, found.map { $0.meaning }) }
        if let only = found.first { return only.head }
        if let record = try await index.change(text, of: place) { return record.head }
        return try await index.commit(at: "refs/heads/\(text)", of: place)
    }

    /// Why a change was not tested although it exists: it is older than the first observation. Nil for any other
    /// subject.
    func baselineReason(in places: Set<String>?) async throws -> String? {
        guard case .change(let name) = request.subject else { return nil }
        for place in places ?? Set(watchers.keys) {
            let names = [name] + ChangeRefs.standard.meanings(of: name).flatMap { [$0.name, $0.clear] }
            for known in names where try await index.change(known, of: place) != nil { return nil }
        }
        return
            "change \(name) existed at the first look at the repository and has not moved since, so it was not tested"
    }

    /// The runs that count, oldest first; if a newer commit superseded the subject's, those of that commit.
    mutating func followedRuns(in places: Set<String>?) async throws -> [IndexedRun] {
        var runs: [IndexedRun] = []
        // Each round moves to a newer run, so the loop ends; the bound protects against an inconsistent index.
        for _ in 0..<100 {
            guard let commit else { return [] }
            runs = try await countedRuns(at: commit, in: places)
            guard case .ref = request.subject, let newer = try await successor(of: runs) else { return runs }
            let old = newer.old.summary
            let new = newer.new.summary
            notes.append(
                "run \(new.id) supersedes run \(old.id): \(new.change.map { "change \($0)" } ?? new.branch ?? new.ref) is at \(new.head.prefix(10)) now"
            )
            self.commit = new.head
        }
        return runs
    }

    /// The run that superseded one of these and tests another commit.
    private func successor(of runs: [IndexedRun]) async throws -> (old: IndexedRun, new: IndexedRun)? {
        for run in runs {
            guard let id = run.summary.supersededBy, let newer = try await index.run(id),
                newer.summary.head != run.summary.head
            else { continue }
            return (run, newer)
        }
        return nil
    }

    /// For each workflow and subject, the newest run of the commit that counts as a verdict.
    private mutating func countedRuns(at commit: String, in places: Set<String>?) async throws -> [IndexedRun] {
        struct Key: Hashable { var repository: String, workflow: String, subject: String }
        var newest: [Key: IndexedRun] = [:]
        for summary in try await index.runs(RunFilter(commitPrefix: commit, limit: 1_000))
        where summary.head == commit && places?.contains(summary.repository) ?? true {
            guard let run = try await index.run(summary.id) else { continue }
            requests[run.id] = run.request
            let key = Key(
                repository: summary.repository, workflow: summary.workflow, subject: run.request.subject)
            if let known = newest[key], known.id > run.id { continue }
            guard try await counts(run) else { continue }
            newest[key] = run
        }
        return newest.values.sorted { $0.id < $1.id }
    }

    /// Whether the run gives a verdict of the commit, and is no experiment of a person or of the daemon.
    private func counts(_ run: IndexedRun) async throws -> Bool {
        if run.request.options.machine != nil { return false }
        switch run.request.kind {
        case .warmUp: return Self.countsAsVerdict(run.summary)
        case .triggered: return run.summary.event != .schedule
        case .rerun(let rerun):
            guard run.summary.event != .schedule, let original = try await index.run(rerun.of),
                try await counts(original)
            else { return false }
            // A partial run says nothing about the other steps, nor about missing tests.
            return !run.request.isPartial
        case .manual, .cleanBuild, .bisect, .flakeProbe, .fix, .landing, .task: return false
        }
    }

    /// If no other run tests a branch, its warm-up run gives the verdict; one that was preempted or failed because of
    /// the machine does not.
    static func countsAsVerdict(_ run: RunSummary) -> Bool {
        guard let verdict = run.verdict else { return true }
        return [.passed, .failed, .flaky, .definitionError].contains(verdict)
    }

    /// The workflows that filters of their triggers held back.
    func heldBack(at commit: String, in places: Set<String>?) async throws -> [HeldBackWorkflow] {
        var held: [HeldBackWorkflow] = []
        for place in (places ?? Set(watchers.keys)).sorted() {
            held += try await index.heldBack(at: commit, of: place)
        }
        return held
    }

    /// What to say of those that none of the runs is of. A workflow for other branches is none that could be missed.
    func heldBack(beside runs: [WaitedRun], in places: Set<String>?) async throws -> [String] {
        guard let commit else { return [] }
        let started = Set(runs.map(\.workflow))
        return try await heldBack(at: commit, in: places)
            .filter { !started.contains($0.name) && $0.objection.filter != TriggerFilter.branches.name }
            .prefix(5).map { "\"\($0.name)\" did not start: it \($0.objection.why)" }
    }

    /// A run by hand of the commit.
    func runByHand(at commit: String) async throws -> RunID? {
        try await index.runs(RunFilter(commitPrefix: commit, limit: 20)).first { $0.head == commit }?.id
    }
}

extension WaitConclusion {
    /// The conclusion from the runs, or nil while an open run may still change it.
    ///
    /// - Parameter own: The runs of the subject itself. If several runs have the worst verdict, one of these decides.
    init?(of runs: [WaitedRun], end: WaitRequest.End, own: Set<RunID> = []) {
        func verdict(_ run: WaitedRun) -> Verdict? { run.state == .needsApproval ? .needsApproval : run.verdict }
        func worst(of runs: [WaitedRun]) -> WaitedRun? {
            let ranked = runs.filter { own.contains($0.id) } + runs.filter { !own.contains($0.id) }
            return ranked.max { (verdict($0)?.severity ?? 0) < (verdict($1)?.severity ?? 0) }
        }
        if end == .failure {
            let failures = runs.filter { run in
                run.verdict.map { [.failed, .conflict, .definitionError].contains($0) } ?? false
            }
            if let worst = worst(of: failures), let verdict = worst.verdict {
                self.init(verdict: verdict, reason: worst.reason ?? verdict.title, run: worst.id)
                return
            }
            // If no further step will run, the verdict is a moment away and says more.
            if let run = runs.first(where: { $0.failedStep != nil && ($0.stepsEnded ?? 0) < ($0.steps ?? 0) }),
                let step = run.failedStep, let ended = run.stepsEnded, let steps = run.steps
            {
                self.init(
                    verdict: .failed,
                    reason: "step \"\(step)\" failed; \(steps - ended) of \(steps) steps have not ended", run: run.id,
                    isEarly: true)
                return
            }
        }
        guard runs.allSatisfy({ verdict($0) != nil }), let worst = worst(of: runs), let decision = verdict(worst)
        else { return nil }
        let reason = worst.reason ?? worst.detail ?? decision.title
        let others = runs.count - 1
        self.init(
            verdict: decision,
            reason: others > 0 && decision == .passed ? "\(runs.count) workflows passed" : reason, run: worst.id)
    }
}
