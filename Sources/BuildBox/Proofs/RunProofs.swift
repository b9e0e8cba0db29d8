import Archive
import Engine
import Foundation
import Git
import Logging
import Pipeline

/// What earlier runs have proved of a run, found out before its first step where it makes use of that.
struct RunProofs: Sendable {
    /// The keys of the plan's steps.
    var keyed: KeyedPlan
    /// Steps that are not run.
    var proved: [String: ProvedStep] = [:]
    /// All that is claimed of the plan's steps, whether this run believes it or not; nothing where it asks for no proofs.
    var claims: [String: ProvedStep] = [:]

    /// The keys of steps that may become proofs.
    var keys: [String: StepKey] {
        var keys: [String: StepKey] = [:]
        for name in keyed.standings.keys { keys[name] = keyed[name] }
        return keys
    }

    /// The outcome when there is nothing to run; nil when there is.
    func settled(_ plan: Plan) -> RunOutcome? { Runner.settled(plan, by: proved) }

    /// Whether the workspace will have all that the plan's steps make: those that are proved leave nothing.
    func leaveAll(of plan: Plan) -> Bool {
        plan.steps.allSatisfy { proved[$0.name] == nil || $0.leavesNothing }
    }

    /// Holds whatever was run against what was proved of it, whyever it was run: as a sample, or because proofs were
    /// not wanted.
    ///
    /// Only a step that ran and failed by itself says something; what a person, the clock, a limit or the system's lack of
    /// memory ended does not.
    func judge(_ outcome: inout RunOutcome, of run: RunID) {
        for index in outcome.steps.indices {
            let step = outcome.steps[index]
            guard let proof = claims[step.name], step.status == .failed, step.provedBy == nil,
                !(step.attempts.last?.endedFromOutside ?? false)
            else { continue }
            outcome.steps[index].refutes = ProofRefutation(proof: proof.citation, definition: proof.key.definition)
            let was = proof.citation
            outcome.findings.insert(
                Finding(
                    rule: "proof-wrong", severity: .error,
                    message:
                        "step \"\(step.name)\" failed although run \(was.run) had proved it: its inputs, command and box "
                        + "were the same there, and it passed. Its result depends on something that it does not declare, "
                        + "or on chance. All proofs of this step are dropped, and none is believed for a week; after "
                        + "another one that is wrong, none until it is declared in another way",
                    file: nil, line: nil, column: nil,
                    suggestion:
                        "compare `pipectl logs \(was.run)` with `pipectl logs \(run)`, declare what it reads in "
                        + ".inputs(…) or say .neverProved(); to believe it again as it is: pipectl proofs trust "
                        + step.name.shellQuoted),
                at: 0)
        }
    }
}

/// Finds the proofs for one run in index and archive.
struct ProofSearch: Sendable {
    let index: Archive.Index
    let store: ArchiveStore
    let options: BoxOptions
    let sandboxing: Sandboxing
    let toolchain: Toolchain
    let log: Logger

    /// What is proved of a run. That it can't be found out is no failure: the steps are run then.
    func proofs(for prepared: RunPreparation, of run: QueuedRun, in repository: WatchedRepository) async -> RunProofs {
        do {
            var proofs = RunProofs(keyed: try await keys(prepared, run.request, in: repository))
            guard Self.isWanted(run.request, options) else { return proofs }
            let claimed = try await claimed(proofs.keyed, prepared, run.request)
            proofs.claims = claimed.mapValues(\.step)
            guard !claimed.isEmpty else { return proofs }
            let found = try await believed(claimed, proofs.keyed, prepared, run.request)
            let plan = prepared.plan
            let sampled = found.keys.sorted().filter { _ in isSample() }
            let uses = ProofSelection.make(
                plan, proved: Set(found.keys).subtracting(sampled),
                restorable: Set(found.filter { $0.value.outputs != nil }.keys))
            for (name, use) in uses {
                guard let one = found[name] else { continue }
                var step = one.step
                switch use {
                case .cite: break
                case .restore: step.restores = one.outputs
                case .run: continue
                }
                proofs.proved[name] = step
            }
            return proofs
        } catch {
            log.warning("run \(run.id): what is proved of it could not be found out, so all of it is run: \(error)")
            return RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
        }
    }

    /// Holds what was run against what was proved of it; see ``RunProofs/judge(_:of:)``.
    ///
    /// A run that asks for no proofs has not read them: reports of many steps take a while, and only a failure needs them.
    /// What later runs have proved meanwhile is not held against it.
    func judge(
        _ outcome: inout RunOutcome, by proofs: RunProofs, _ prepared: RunPreparation, _ run: QueuedRun
    ) async {
        guard outcome.steps.contains(where: { $0.status == .failed }) else { return }
        var proofs = proofs
        if !Self.isWanted(run.request, options) {
            do {
                proofs.claims = try await claimed(proofs.keyed, prepared, run.request).mapValues(\.step)
                    .filter { $0.value.citation.run < run.id }
            } catch {
                log.warning("run \(run.id): whether what failed was proved could not be found out: \(error)")
            }
        }
        proofs.judge(&outcome, of: run.id)
    }

    /// A run by the clock is there to find out what changed without a push, and one of the box's own to leave a whole
    /// workspace.
    static func isWanted(_ request: RunRequest, _ options: BoxOptions) -> Bool {
        options.usesProofs && request.refusesProofs != true && request.event != .schedule
            && request.upkeep == nil && request.isClean != true
    }

    private func isSample() -> Bool { Double.random(in: 0..<1) < options.proofSampling }

    /// The keys of all steps of the run.
    func keys(
        _ prepared: RunPreparation, _ request: RunRequest, in repository: WatchedRepository
    ) async throws -> KeyedPlan {
        var facts = KeyFacts()
        let patterns = Set(prepared.plan.steps.map(\.inputs))
        let tree = prepared.tree
        // Most steps read the whole tree, whose id is known.
        facts.inputs[[]] = TreeInputs.whole(tree)
        let declared = patterns.subtracting([[]])
        let outputs = Set(prepared.plan.steps.map(\.outputs)).subtracting([[]])
        async let distrusted = index.distrustedSteps(of: request.repository, at: Date())
        if !declared.isEmpty || !outputs.isEmpty {
            let begun = facts
            facts = try await withRepository(at: repository.store) { store in
                var facts = begun
                let reader = TreeInputs(repository: store, tree: tree)
                for patterns in declared {
                    try facts.note(patterns) { $0.inputs[patterns] = try reader.read(patterns) }
                }
                for patterns in outputs {
                    try facts.note(patterns) { $0.tracked[patterns] = try reader.tracked(patterns) }
                }
                return facts
            }
        }
        facts.parameters = prepared.context.parameters
        facts.environment = RunSetting.ownEnvironment.filter {
            !Self.ownPlaces.contains($0.key)
        }
        facts.runVariables = RunVariables.values(prepared, request)
        facts.commit = prepared.tested.hex
        facts.closureContext = Self.closureContext(prepared.context)
        facts.toolchain = "\(toolchain.version) for \(toolchain.target), \(toolchain.fileWords)"
        facts.box = BoxClass.facts(options, sandboxing)
        facts.program = prepared.program.key
        facts.isRelease = request.runsAtMostOnce
        facts.canWriteOutside = !options.writable.isEmpty && prepared.trust == .merged
        facts.distrusted = Set(try await distrusted.map(\.definition))
        return KeyedPlan(prepared.plan, facts)
    }

    /// Variables that say where something is for this box or run, and not what it is.
    private static let ownPlaces: Set<String> = ["HOME", "USER", "LOGNAME", "TMPDIR"]

    /// A closure has the whole context at hand, so all of it counts but what is another one at each push.
    static func closureContext(_ context: PlanContext) -> [String] {
        var texts = [context.event.rawValue, context.branch ?? "", context.tag ?? "", context.lastTag ?? ""]
        if let change = context.change { texts += ["change", change.name, change.target, change.title, change.author] }
        texts += ["files"] + context.changedFiles.flatMap { [$0.status.rawValue, $0.path, $0.oldPath ?? ""] }
        texts += ["merged"] + context.mergedChanges.flatMap { [$0.name, $0.recognition.rawValue] }
        return texts
    }

    struct Found: Sendable {
        var step: ProvedStep
        /// Whom the proof counts for: ``ProofScope``.
        var scope: String
        /// The tree that was tested in the run that proved it.
        var tree: String?
        /// What the step made, if it says what that is and all of it was kept.
        var outputs: KeptOutputs?
    }

    /// The proofs that a run may use.
    func found(
        _ keyed: KeyedPlan, _ prepared: RunPreparation, _ request: RunRequest
    ) async throws -> [String: Found] {
        try await believed(try await claimed(keyed, prepared, request), keyed, prepared, request)
    }

    /// Of what is claimed, what the run believes.
    ///
    /// A run from nothing believes only what was proved from nothing. Merged code believes a change only where the change
    /// was tested with the whole of the same tree: what it says of its inputs binds nobody else.
    private func believed(
        _ claimed: [String: Found], _ keyed: KeyedPlan, _ prepared: RunPreparation, _ request: RunRequest
    ) async throws -> [String: Found] {
        let found =
            request.beginsFromNothing ? try await self.claimed(keyed, prepared, request, fromNothing: true) : claimed
        guard prepared.trust == .merged else { return found }
        return found.filter { $0.value.scope == ProofScope.merged || $0.value.tree == prepared.tree.hex }
    }

    /// The proofs that there are: their reports and files are there.
    private func claimed(
        _ keyed: KeyedPlan, _ prepared: RunPreparation, _ request: RunRequest, fromNothing: Bool = false
    ) async throws -> [String: Found] {
        let keys = Dictionary(
            prepared.plan.steps.compactMap { step in keyed[step.name].map { (step.name, $0) } },
            uniquingKeysWith: { first, _ in first })
        let proofs = try await index.proofs(
            of: Array(Set(keys.values.map(\.value))), in: request.repository,
            scopes: ProofScope.believed(prepared.trust, request), fromNothing: fromNothing)
        var reports: [RunID: (report: Report, tests: [TestResult])] = [:]
        for run in Set(proofs.values.map(\.citation.run)) {
            do {
                let report = try await store.report(run)
                let needsTests = report.steps.contains { $0.tests != nil }
                reports[run] = (report, needsTests ? try await store.tests(run) : [])
            } catch let error as ArchiveError {
                log.warning("what run \(run) proves is not used: \(error)")
            }
        }
        var found: [String: Found] = [:]
        for step in prepared.plan.steps {
            guard let key = keys[step.name], let proof = proofs[key.value],
                let (report, tests) = reports[proof.citation.run]
            else { continue }
            found[step.name] = self.found(step, key, proof, report, tests)
        }
        return found
    }

    private func found(
        _ step: PlannedStep, _ key: StepKey, _ proof: StepProof, _ report: Report, _ tests: [TestResult]
    ) -> Found? {
        let citation = proof.citation
        let record = report.steps.first {
            $0.name == citation.step && $0.key?.value == key.value && $0.status == .passed && $0.provedBy == nil
        }
        guard let record else { return nil }
        let artifacts = report.artifacts.filter { $0.step == record.name }
        guard artifacts.allSatisfy({ store.wantedArtifact($0.sha256, bytes: $0.bytes) != nil }) else { return nil }
        var one = Found(
            step: ProvedStep(
                citation: citation, key: key, tests: record.tests?.of(tests) ?? [], testCounts: record.testCounts,
                findings: report.findings.filter { $0.step == record.name }, artifacts: artifacts),
            scope: proof.scope, tree: report.testedTree)
        // What it published for others is not kept.
        if step.publishes.isEmpty, let made = record.outputs,
            let path = store.wantedArtifact(made.sha256, bytes: made.bytes)
        {
            one.outputs = KeptOutputs(path: path, sha256: made.sha256)
        }
        return one
    }
}

extension KeyFacts {
    /// Notes why patterns can't be read where it is the tree that is beyond measure: other steps are proved all the same.
    fileprivate mutating func note(_ patterns: [String], _ read: (inout KeyFacts) throws -> Void) throws {
        do { try read(&self) } catch let error
            where error is TooManyLinks || error is TreeTooDeep || error is TreeTooLarge
        {
            unread[patterns] = "\(error)"
        }
    }
}

extension AttemptRecord {
    /// Whether a limit, or whoever sends SIGKILL (the system out of memory does), ended it.
    fileprivate var endedFromOutside: Bool { hitLimit == true || signal == 9 || exitCode == 128 + 9 }
}
