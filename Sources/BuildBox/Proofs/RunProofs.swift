import Workspaces
import Results
import Store
import Archive
import Engine
import Foundation
import Git
import Logging
import Pipeline
import WorkflowPrograms

/// What earlier runs have proved of a run, found out before its first step where it makes use of that.
struct RunProofs: Sendable {
    /// The keys of the plan's steps.
    var keyed: KeyedPlan
    /// Steps that are not run.
    var proved: [String: ProvedStep] = [:]
    /// All that is claimed of the plan's steps, whether this run believes it or not; nothing where it asks for no proofs.
    var claims: [String: ProofSearch.Found] = [:]

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

    /// The claims that a run's outcome shows to be wrong: the step ran there and failed by itself.
    ///
    /// A step that a person, the clock, a limit or the system's lack of memory ended says nothing.
    func wrongClaims(_ outcome: RunOutcome) -> [String: ProofSearch.Found] {
        let failed = outcome.steps.filter {
            $0.status == .failed && $0.provedBy == nil && !($0.attempts.last?.endedFromOutside ?? false)
        }
        return claims.filter { claim in failed.contains { $0.name == claim.key } }
    }

    /// Notes in the outcome which claims are wrong, whatever the reason was to run the step.
    ///
    /// - Parameter breaches: By step, why the claim of a change tells nothing about the step itself.
    /// - Parameter own: The same about the failures of this run, which is not merged; nil for a run of merged code.
    func judge(
        _ outcome: inout RunOutcome, of run: RunID, _ breaches: [String: ProofConfinement.Breach] = [:],
        own: OwnBreaches? = nil
    ) {
        let wrong = wrongClaims(outcome)
        for index in outcome.steps.indices {
            let step = outcome.steps[index]
            guard let claim = wrong[step.name] else { continue }
            let (proof, breach) = (claim.step, breaches[step.name])
            if let own, let ownBreach = own.breaches[step.name] {
                // Others have not seen what this run brought, so they keep their proofs.
                outcome.steps[index].refutes = own.scope.map {
                    ProofRefutation(proof: proof.citation, definition: proof.key.definition, scope: $0)
                }
                outcome.findings.insert(Self.finding(step.name, failedBut: proof.citation, ownBreach), at: 0)
                continue
            }
            outcome.steps[index].refutes = ProofRefutation(
                proof: proof.citation, definition: proof.key.definition, scope: breach.map { _ in claim.scope })
            outcome.findings.insert(
                breach.map { Self.finding(step.name, proof.citation, $0) }
                    ?? Self.finding(step.name, proof.citation, in: run), at: 0)
        }
    }

    private static func finding(_ step: String, _ was: ProofCitation, in run: RunID) -> Finding {
        Finding(
            rule: "proof-wrong", severity: .error,
            message:
                "step \"\(step)\" failed although run \(was.run) had proved it: its inputs, command and build box "
                + "were the same, and it passed there. Its result depends on something that it does not declare, "
                + "or on chance. All proofs of this step were removed, and new ones are not trusted for a week; after "
                + "another wrong proof, not until its declaration changes",
            file: nil, line: nil, column: nil,
            suggestion:
                "compare `pipectl logs \(was.run)` with `pipectl logs \(run)`, declare its inputs with "
                + ".inputs(…) or write .neverProved(); to trust it again unchanged: pipectl proofs trust "
                + step.shellQuoted)
    }

    private static func finding(
        _ step: String, failedBut was: ProofCitation, _ breach: ProofConfinement.Breach
    ) -> Finding {
        let reason =
            switch breach {
            case .undeclared(let path): "this change has its own \(path), which is not among the step's declared inputs"
            case .noTarget: "this run tests no change, so its own files can't be told apart"
            case .unreadable(let why): "the files of this change can't be read: \(why)"
            }
        return Finding(
            rule: "failed-undeclared", severity: .warning,
            message:
                "step \"\(step)\" failed although run \(was.run) passed with the same declared inputs; \(reason). "
                + "Only this change's or branch's own proofs of the step were removed",
            file: breach.path, line: nil, column: nil,
            suggestion: "if the step reads such files, declare them in .inputs(…)")
    }

    private static func finding(_ step: String, _ was: ProofCitation, _ breach: ProofConfinement.Breach) -> Finding {
        Finding(
            rule: "passed-undeclared", severity: .warning,
            message:
                "step \"\(step)\" passed in run \(was.run) with the same inputs, but \(breach). This change's proofs of the "
                + "step were removed",
            file: breach.path, line: nil, column: nil,
            suggestion: "if the step reads such files, declare them in .inputs(…)")
    }
}

/// Why failures of a run that is not merged tell nothing about the proofs of others.
struct OwnBreaches: Sendable {
    /// Where the results of the run count: ``ProofScope``; nil for a working tree, which has no proofs.
    var scope: String?
    /// By step; nothing for steps whose failure holds for everybody.
    var breaches: [String: ProofConfinement.Breach]
}

/// Finds the proofs for one run in index and archive.
struct ProofSearch: Sendable {
    let index: Store.Index
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
            proofs.claims = claimed
            guard !claimed.isEmpty else { return proofs }
            let found = try await believed(claimed, proofs.keyed, prepared, run.request, in: repository)
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
            log.warning("run \(run.id): its proofs could not be read, so all steps run: \(error)")
            return RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
        }
    }

    /// Notes which proofs the outcome shows to be wrong; see ``RunProofs/judge(_:of:_:)``.
    ///
    /// A run that asks for no proofs has not read them: reports of many steps take a while, and only a failure needs them.
    /// What later runs have proved meanwhile is not held against it.
    func judge(
        _ outcome: inout RunOutcome, by proofs: RunProofs, _ prepared: RunPreparation, _ run: QueuedRun,
        in repository: WatchedRepository
    ) async {
        guard outcome.steps.contains(where: { $0.status == .failed }) else { return }
        var proofs = proofs
        do {
            if !Self.isWanted(run.request, options) {
                proofs.claims = try await claimed(proofs.keyed, prepared, run.request)
                    .filter { $0.value.step.citation.run < run.id }
            }
            let wrong = proofs.wrongClaims(outcome)
            let ofChanges = wrong.filter { $0.value.scope != ProofScope.merged }
            let breaches = try await breaches(of: ofChanges, prepared, run.request, in: repository)
            let own = try await ownBreaches(Set(wrong.keys), prepared, run.request, in: repository)
            proofs.judge(&outcome, of: run.id, breaches, own: own)
        } catch {
            log.warning("run \(run.id): whether a failed step was proved could not be determined: \(error)")
        }
    }

    /// A run by the clock is there to find out what changed without a push, and one of the box's own to leave a whole
    /// workspace.
    static func isWanted(_ request: RunRequest, _ options: BoxOptions) -> Bool {
        options.usesProofs && !request.options.refusesProofs && request.event != .schedule
            && request.background == nil && !request.options.isClean
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
        /// The change that was tested in that run; nil for a branch.
        var change: Change?
        /// What the step made, if it says what that is and all of it was kept.
        var outputs: StoredOutputs?
    }

    /// Of what is claimed, what the run believes.
    ///
    /// A run from nothing believes only what was proved from nothing. What a change says of its inputs binds nobody:
    /// merged code believes a change only where that was tested with the whole of the same tree, and the change itself is
    /// believed for another tree only where it brought nothing but what is in the key.
    func believed(
        _ claimed: [String: Found], _ keyed: KeyedPlan, _ prepared: RunPreparation, _ request: RunRequest,
        in repository: WatchedRepository
    ) async throws -> [String: Found] {
        let found =
            request.beginsFromNothing ? try await self.claimed(keyed, prepared, request, fromNothing: true) : claimed
        let others = found.filter { $0.value.scope != ProofScope.merged && $0.value.tree != prepared.tree.hex }
        guard !others.isEmpty else { return found }
        guard prepared.trust != .merged else { return found.filter { others[$0.key] == nil } }
        let breaches = try await breaches(of: others, prepared, request, in: repository)
        return found.filter { breaches[$0.key] == nil }
    }

    /// Why proofs of a change count for no other tree, by step; nothing for those that do.
    func breaches(
        of proofs: [String: Found], _ prepared: RunPreparation, _ request: RunRequest,
        in repository: WatchedRepository
    ) async throws -> [String: ProofConfinement.Breach] {
        guard !proofs.isEmpty else { return [:] }
        let target = request.change?.target ?? request.branch
        let plan = prepared.plan
        return try await withRepository(at: repository.store) { store in
            let confinement = ProofConfinement(repository: store, plan: plan, target: target)
            return confinement.breaches(of: proofs)
        }
    }

    /// Why failures of this run may come from what it brought itself; nil where it is merged.
    private func ownBreaches(
        _ failed: Set<String>, _ prepared: RunPreparation, _ request: RunRequest, in repository: WatchedRepository
    ) async throws -> OwnBreaches? {
        guard !failed.isEmpty, prepared.trust != .merged else { return nil }
        let (plan, tree) = (prepared.plan, prepared.tree)
        let breaches = try await withRepository(at: repository.store) { store in
            ProofConfinement(repository: store, plan: plan, target: request.change?.target)
                .breaches(ofFailed: failed, in: tree, of: request.change)
        }
        let scope = ProofScope.own(prepared.trust, change: request.change?.name, ref: request.ref)
        return OwnBreaches(scope: scope, breaches: breaches)
    }

    /// The proofs that there are: their reports and files are there.
    func claimed(
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
                log.warning("the proofs of run \(run) are not used: \(error)")
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
        var citation = proof.citation
        citation.head = report.head
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
            scope: proof.scope, tree: report.testedTree, change: report.change)
        // What it published for others is not kept.
        if step.publishes.isEmpty, let made = record.outputs,
            let path = store.wantedArtifact(made.sha256, bytes: made.bytes)
        {
            one.outputs = StoredOutputs(path: path, sha256: made.sha256)
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
