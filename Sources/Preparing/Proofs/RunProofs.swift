import DaemonLog
package import ProofKeys
package import Watching
package import Workspaces
package import Results
package import Store
package import Archive
package import Engine
import Foundation
import Git
package import Logging
package import Pipeline
package import WorkflowPrograms

/// The proofs of earlier runs for the steps of a run, looked up before its first step.
package struct RunProofs: Sendable {
    /// The keys of the plan's steps.
    package var keyed: KeyedPlan
    /// Steps that are not run.
    package var proved: [String: ProvedStep] = [:]
    /// Steps that are run although they are proved, to check that.
    package var sampled: Set<String> = []
    /// All results that are claimed for the plan's steps, whether this run trusts them or not; empty if it asks for no
    /// proofs.
    var claims: [String: ProofSearch.Found] = [:]

    /// The keys of steps whose results may become proofs.
    package var keys: [String: StepKey] {
        var keys: [String: StepKey] = [:]
        for name in keyed.standings.keys { keys[name] = keyed[name] }
        return keys
    }

    /// The outcome if no step has to run; nil otherwise.
    package func settled(_ plan: Plan) -> RunOutcome? { Runner.settled(plan, by: proved) }

    /// Whether the workspace will contain the outputs of all steps; proved steps leave none.
    package func leaveAll(of plan: Plan) -> Bool {
        plan.steps.allSatisfy { proved[$0.name] == nil || $0.leavesNothing }
    }

    /// The claims that the outcome refutes: the step ran with the same key and failed by itself.
    ///
    /// A step that was ended by a person, a time limit, another limit or a lack of memory refutes nothing.
    func wrongClaims(_ outcome: RunOutcome) -> [String: ProofSearch.Found] {
        let failed = outcome.steps.filter {
            $0.status == .failed && $0.provedBy == nil && !($0.attempts.last?.endedFromOutside ?? false)
        }
        return claims.filter { claim in failed.contains { $0.name == claim.key } }
    }

    /// Records in the outcome which claims are refuted, for whatever reason the step was run.
    ///
    /// - Parameter breaches: By step, why the claim of a change can't be refuted by this step.
    /// - Parameter own: By step, why a failure of this unmerged run refutes nothing; nil for a run of merged code.
    package func judge(
        _ outcome: inout RunOutcome, of run: RunID, _ breaches: [String: ProofConfinement.Breach] = [:],
        own: OwnBreaches? = nil
    ) {
        let wrong = wrongClaims(outcome)
        for index in outcome.steps.indices {
            let step = outcome.steps[index]
            guard let claim = wrong[step.name] else { continue }
            let (proof, breach) = (claim.step, breaches[step.name])
            if let own, let ownBreach = own.breaches[step.name] {
                // Other runs don't contain this change, so their proofs stay valid.
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
                    ?? Self.finding(step.name, proof.citation, in: run, on: step.attempts.last?.machine), at: 0)
        }
    }

    /// - Parameter machine: Where it failed, if that is not the machine of the run.
    private static func finding(
        _ step: String, _ was: ProofCitation, in run: RunID, on machine: String?
    ) -> Finding {
        let same = machine == nil ? "its inputs, command and build box" : "its inputs and command"
        let other = machine == nil ? "" : ", or on the machine"
        return Finding(
            rule: "proof-wrong", severity: .error,
            message:
                "step \"\(step)\" failed\(machine.map { " on \($0)" } ?? "") although run \(was.run) had proved it: \(same) "
                + "were the same, and it passed there. Its result depends on something that it does not declare, "
                + "or on chance\(other). All proofs of this step were removed, and new ones are not trusted for a week; after "
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

/// Why failures of an unmerged run don't refute the proofs of others.
package struct OwnBreaches: Sendable {
    /// The scope in which the run's results are valid: ``ProofScope``; nil for a working tree, which has no proofs.
    package var scope: String?
    /// By step; no entry for steps whose failure counts for all runs.
    package var breaches: [String: ProofConfinement.Breach]
}

/// Looks up the proofs for one run in the index and the archive.
package struct ProofSearch: Sendable {
    package let index: Store.Index
    package let store: ArchiveStore
    package let options: DaemonOptions
    package let sandboxing: Sandboxing
    package let toolchain: Toolchain
    package let log: Logger

    package init(
        index: Store.Index, store: ArchiveStore, options: DaemonOptions, sandboxing: Sandboxing, toolchain: Toolchain,
        log: Logger
    ) {
        self.index = index
        self.store = store
        self.options = options
        self.sandboxing = sandboxing
        self.toolchain = toolchain
        self.log = log
    }

    /// The proofs of a run. If they can't be read, nothing fails: the steps are run.
    ///
    /// - Parameter machine: Where the run is, if that is not the daemon's machine. The results that were made there count
    ///   there and nowhere else, so a machine that lies deceives nobody but the runs that it is given.
    package func proofs(
        for prepared: RunPreparation, of run: QueuedRun, in repository: WatchedRepository,
        on machine: OtherMachine? = nil
    ) async -> RunProofs {
        do {
            var proofs = RunProofs(keyed: try await keys(prepared, run.request, in: repository, on: machine))
            guard Self.isWanted(run.request, options) else { return proofs }
            let claimed = try await claimed(proofs.keyed, prepared, run.request)
            proofs.claims = claimed
            guard !claimed.isEmpty else { return proofs }
            let found = try await believed(claimed, proofs.keyed, prepared, run.request, in: repository)
            let plan = prepared.plan
            let sampled = found.keys.sorted().filter { _ in isSample() }
            proofs.sampled = Set(sampled)
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
            log.warning(
                "run \(run.id): its proofs could not be read, so all steps run: \(error)",
                metadata: .code(.proofsUnusable, run: run.id))
            return RunProofs(keyed: KeyedPlan(prepared.plan, KeyFacts()))
        }
    }

    /// Records which proofs the outcome refutes; see ``RunProofs/judge(_:of:_:)``.
    ///
    /// A run that asks for no proofs has not read them yet: only a failure needs them, and reading reports of many
    /// steps takes a while. Proofs that later runs have made meanwhile are not considered.
    package func judge(
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
            log.warning(
                "run \(run.id): whether a failed step was proved could not be determined: \(error)",
                metadata: .code(.proofsUnusable, run: run.id))
        }
    }

    /// A scheduled run finds out what changed without a push, and some background runs have to leave a complete
    /// workspace; so both run all steps.
    package static func isWanted(_ request: RunRequest, _ options: DaemonOptions) -> Bool {
        options.usesProofs && !request.options.refusesProofs && request.event != .schedule
            && request.background == nil && !request.options.isClean
    }

    private func isSample() -> Bool { Double.random(in: 0..<1) < options.proofSampling }

    /// The keys of all steps of the run.
    package func keys(
        _ prepared: RunPreparation, _ request: RunRequest, in repository: WatchedRepository,
        on machine: OtherMachine? = nil
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
        facts.machine = MachineClass.facts(options, sandboxing)
        if let machine { facts.machine += ["on", machine.name] + machine.traits }
        facts.program = prepared.program.key
        facts.isRelease = request.runsAtMostOnce
        facts.canWriteOutside = !options.writable.isEmpty && prepared.trust == .merged
        facts.distrusted = Set(try await distrusted.map(\.definition))
        return KeyedPlan(prepared.plan, facts)
    }

    /// Variables that tell where something is on this machine or in this run, and not what it is.
    private static let ownPlaces: Set<String> = ["HOME", "USER", "LOGNAME", "TMPDIR"]

    /// A closure can read the whole context, so all of it counts, except for what differs at each push.
    static func closureContext(_ context: PlanContext) -> [String] {
        var texts = [context.event.rawValue, context.branch ?? "", context.tag ?? "", context.lastTag ?? ""]
        if let change = context.change { texts += ["change", change.name, change.target, change.title, change.author] }
        texts += ["files"] + context.changedFiles.flatMap { [$0.status.rawValue, $0.path, $0.oldPath ?? ""] }
        texts += ["merged"] + context.mergedChanges.flatMap { [$0.name, $0.recognition.rawValue] }
        return texts
    }

    package struct Found: Sendable {
        package var step: ProvedStep
        /// The scope in which the proof is valid: ``ProofScope``.
        package var scope: String
        /// The tree that was tested by the run that made the proof.
        package var tree: String?
        /// The change that was tested by that run; nil for a branch.
        package var change: Change?
        /// The outputs of the step; nil unless it declares outputs and all of them were stored.
        package var outputs: StoredOutputs?
    }

    /// The claims that this run trusts.
    ///
    /// A run that starts fresh trusts only proofs of runs that started fresh. The inputs that a change declares are not
    /// trusted: merged code trusts the proof of a change only if the whole tree is the same, and the change itself
    /// trusts it for another tree only if everything it modified is in the key.
    package func believed(
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

    /// By step, why proofs of a change are valid for no other tree; no entry if they are.
    package func breaches(
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

    /// Why failures of this run may be due to its own change; nil if it is merged.
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

    /// The proofs whose reports and files exist.
    package func claimed(
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
                log.warning(
                    "the proofs of run \(run) are not used: \(error)", metadata: .code(.proofsUnusable, run: run))
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
        // Values that it published for other steps are not stored.
        if step.publishes.isEmpty, let made = record.outputs,
            let path = store.wantedArtifact(made.sha256, bytes: made.bytes)
        {
            one.outputs = StoredOutputs(path: path, sha256: made.sha256)
        }
        return one
    }
}

extension KeyFacts {
    /// Records why patterns can't be read if the tree exceeds a limit. Other steps can be proved all the same.
    fileprivate mutating func note(_ patterns: [String], _ read: (inout KeyFacts) throws -> Void) throws {
        do { try read(&self) } catch let error
            where error is TooManyLinks || error is TreeTooDeep || error is TreeTooLarge
        {
            unread[patterns] = "\(error)"
        }
    }
}

extension AttemptRecord {
    /// Whether a limit or a SIGKILL ended it; the system sends SIGKILL when memory runs out.
    fileprivate var endedFromOutside: Bool { hitLimit == true || signal == 9 || exitCode == 128 + 9 }
}
