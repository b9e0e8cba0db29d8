package import Watching
import Workspaces
import Diagnostics
package import Results
import Store
import Engine
import Foundation
package import Git
package import Pipeline
package import WorkflowPrograms

/// Everything that must be known before a run's first step: the tested commit, the workflow program and the plan.
package struct RunPreparation: Sendable {
    package var tested: OID
    package var tree: OID
    /// Seconds since 1970, for `SOURCE_DATE_EPOCH`.
    package var commitTime: Int
    package var context: PlanContext
    package var declaration: WorkflowDeclaration
    package var plan: Plan
    /// The workflow's whole plan, of which ``plan`` may be a part.
    package var wholePlan: Plan
    package var program: WorkflowProgram
    package var definition: Report.Definition
    package var trust: Trust
    /// The approval that let it start; nil if none was needed.
    package var approval: Approval?
    /// Whether the change edits `workflows/`.
    package var editsDefinition: Bool
    /// Notes for the report that are no failures.
    package var notes: [Finding]
    /// The version, if the workflow makes a release.
    package var version: ReleaseVersion?
    /// The commit of an ancestor that has the version's tag; nil if none has.
    package var taggedBefore: OID?
    /// Why ``plan`` lacks the steps of the release, which the workflow makes; nil if it has them.
    package var whyWithoutRelease: String?
    /// The task that an agent works on in this run; nil for other runs, also for those that test what it made.
    package var task: TaskRecord?

    package init(
        tested: OID, tree: OID, commitTime: Int, context: PlanContext, declaration: WorkflowDeclaration, plan: Plan,
        wholePlan: Plan, program: WorkflowProgram, definition: Report.Definition, trust: Trust,
        approval: Approval? = nil, editsDefinition: Bool, notes: [Finding]
    ) {
        self.tested = tested
        self.tree = tree
        self.commitTime = commitTime
        self.context = context
        self.declaration = declaration
        self.plan = plan
        self.wholePlan = wholePlan
        self.program = program
        self.definition = definition
        self.trust = trust
        self.approval = approval
        self.editsDefinition = editsDefinition
        self.notes = notes
    }
}

extension RunPreparation {
    /// Merges, compiles and plans.
    ///
    /// - Parameters:
    ///   - rules: Which branches are protected, and what needs approval.
    ///   - task: Returns the task that an agent works on.
    ///   - tests: Returns the test history; called if the workflow reads the context.
    ///   - contributor: Returns who brings the code, as a connected forge says.
    ///   - approved: Returns the approval that is valid for a binding.
    /// - Throws: ``EarlyVerdict`` if the verdict is known without a step, or a person must approve first.
    package static func make(
        _ run: QueuedRun, in repository: WatchedRepository, programs: ProgramCache, rules: TrustRules = TrustRules(),
        task: @Sendable (TaskID) async throws -> TaskRecord? = { _ in nil },
        tests: @Sendable (RunFacts) async -> TestHistory = { _ in TestHistory() },
        contributor: @Sendable (RunFacts) async throws -> Contributor? = { _ in nil },
        approved: @Sendable (_ binding: String) async throws -> Approval? = { _ in nil }
    ) async throws -> RunPreparation {
        let request = run.request
        let facts: RunFacts
        do { facts = try await self.facts(run, repository, rules) } catch let error as GitError
            where error.code == .tooLarge
        { throw EarlyVerdict(tooLarge: error) }
        let program = try await CommitWorkflows.program(
            at: facts.definitionCommit, tree: facts.definitionTree, repository, programs)
        var context = planContext(of: request, facts)
        do {
            let declaration = try program.declaration(of: request.workflow)
            context.parameters = try parameters(of: declaration, given: request.parameters)
            let limits = AgentLimits(request: request)
            try limits.check(declaration)
            let decision = TrustDecision.make(
                facts.trust(request, declaration, try await contributor(facts)), rules.policy)
            if request.background != nil, decision.ruling != .allowed || decision.trust != .merged {
                throw EarlyVerdict(
                    verdict: .cancelled, reason: "runs that the daemon starts by itself must not need approval",
                    tested: facts.tested)
            }
            let record = try await taskRecord(of: request, task)
            if declaration.readsContext { context.tests = await tests(facts) }
            let wholePlan = try await program.plan(workflow: request.workflow, context: context)
            let (plan, trial) = try Self.trial(
                of: part(of: wholePlan, for: request, declaration, record, tested: facts.tested), for: request,
                tested: facts.tested)
            try checkMerged(plan, decision.trust, request, tested: facts.tested)
            let approval = try await word(on: decision, run, facts, approved)
            try limits.check(wholePlan, decision.trust)
            let edited = request.change == nil ? [] : facts.changedFiles.filter { $0.path.hasPrefix("workflows/") }
            let (version, taggedBefore) = try await Self.version(
                of: wholePlan, isForRelease: plan.releases, facts, context, repository, request)
            var preparation = RunPreparation(
                tested: facts.tested, tree: facts.tree, commitTime: facts.commitTime, context: context,
                declaration: declaration, plan: plan, wholePlan: wholePlan, program: program,
                definition: Report.Definition(
                    commit: facts.definitionCommit.hex, tree: facts.definitionTree.hex,
                    toolchain: programs.toolchain.version),
                // What an agent does to the files of the target is not merged, whatever it starts from.
                trust: record == nil ? decision.trust : .change, approval: approval,
                editsDefinition: !edited.isEmpty && request.fix == nil && request.task == nil,
                notes: facts.notes + (edited.isEmpty ? [] : [note(of: edited, testedWith: request.branch)])
                    + [trial].compactMap { $0 })
            (preparation.version, preparation.taggedBefore, preparation.task) = (version, taggedBefore, record)
            preparation.whyWithoutRelease = trial.map { _ in Self.workingTree }
            return preparation
        } catch let error as DefinitionError {
            throw EarlyVerdict(error, tested: facts.tested)
        }
    }

    /// The context of the plan, before parameters have their defaults.
    private static func planContext(of request: RunRequest, _ facts: RunFacts) -> PlanContext {
        var context = PlanContext(
            repository: request.repository, event: request.event, commit: facts.tested.hex, ref: request.ref,
            branch: request.branch,
            tag: request.ref.hasPrefix("refs/tags/") ? String(request.ref.dropFirst("refs/tags/".count)) : nil,
            change: request.change, changedFiles: facts.changedFiles, mergedChanges: request.mergedChanges,
            parameters: request.parameters)
        context.lastTag = facts.lastTag
        return context
    }

    /// The version of the release that the plan makes, and the commit of an ancestor that has its tag; nil if it makes
    /// none.
    ///
    /// - Parameter isForRelease: Whether the run's part of the plan makes or publishes the release. If it does not, the
    ///   version only goes to its steps, where there is one.
    /// - Throws: ``EarlyVerdict`` if the commit has no version, or if a change would be released.
    private static func version(
        of plan: Plan, isForRelease: Bool, _ facts: RunFacts, _ context: PlanContext, _ repository: WatchedRepository,
        _ request: RunRequest
    ) async throws -> (ReleaseVersion?, taggedBefore: OID?) {
        guard let release = plan.release else { return (nil, nil) }
        func refused(_ reason: String) -> EarlyVerdict {
            EarlyVerdict(verdict: .definitionError, reason: reason, tested: facts.tested)
        }
        if context.change != nil {
            throw refused(
                "workflow \"\(plan.workflow)\" makes a release, so no change can start it: start it on .merge or .tag")
        }
        let (tested, tag) = (facts.tested, context.tag)
        do {
            let version: ReleaseVersion
            do {
                version = try await withRepository(at: repository.store) { store in
                    try VersionResolver(repository: store, commit: tested, tag: tag).version(by: release.version)
                }
            } catch is VersionProblem where !isForRelease { return (nil, nil) }
            // It may have the version that was released last.
            guard isForRelease else { return (version, nil) }
            return try await withRepository(at: repository.gitDirectory) { source in
                // A branch moves on after a release, whose tag stays where it is.
                let before = try request.followsBranch ? Self.tag(of: version, before: tested, in: source) : nil
                if before == nil { try VersionResolver.check(version, of: tested, in: source) }
                return (version, before)
            }
        } catch let problem as VersionProblem {
            throw refused(problem.description)
        }
    }

    /// The task of a run in which an agent works; nil for other runs.
    ///
    /// - Throws: ``EarlyVerdict`` if the task is gone, or its budget is used up.
    private static func taskRecord(
        of request: RunRequest, _ task: @Sendable (TaskID) async throws -> TaskRecord?
    ) async throws -> TaskRecord? {
        guard let role = request.task, role.isOfAgent else { return nil }
        guard let record = try await task(role.task) else {
            throw EarlyVerdict(verdict: .cancelled, reason: "task \(role.task) is not in the store")
        }
        if record.state.isEnded {
            throw EarlyVerdict(verdict: .cancelled, reason: "task \(role.task) is \(record.state.title)")
        }
        if let reason = record.budgetExcess { throw EarlyVerdict(verdict: .cancelled, reason: reason) }
        return record
    }

    /// The part of the plan that the request wants; for a fixer or the agent of a task, its own plan.
    private static func part(
        of whole: Plan, for request: RunRequest, _ declaration: WorkflowDeclaration, _ task: TaskRecord?, tested: OID
    ) throws -> Plan {
        if let role = request.task, let task { return try Plan(of: role, in: task, within: whole) }
        var plan = try request.onlySteps.map { try whole.keeping($0) } ?? whole
        if request.background != nil { plan = plan.withoutActing }
        if let tests = request.onlyTests { plan = try plan.running(tests, in: request.onlySteps) }
        guard request.fix?.isMaking == true else { return plan }
        guard let fix = declaration.fix else {
            throw EarlyVerdict(
                verdict: .definitionError, reason: "the workflow declares no fixer", tested: tested)
        }
        return FixMaterial.plan(fix, workflow: request.workflow)
    }

    /// The note that a change edits the workflows.
    private static func note(of edited: [ChangedFile], testedWith branch: String?) -> Finding {
        Finding(
            rule: "definition-edited", severity: .warning,
            message:
                "the change edits \(edited.map(\.path).joined(separator: ", ")); it was tested with the "
                + "definition of \(branch ?? "the target")",
            file: edited.first?.path, line: nil, column: nil,
            suggestion: "review the edit: it takes effect when the change has landed")
    }

    /// The newest tag that `commit` descends from, by commit time.
    ///
    /// - Parameter others: The names of tags that are passed over.
    package static func lastTag(
        before commit: OID, _ repository: WatchedRepository, except others: Set<String> = []
    ) throws -> String? {
        let watched = try Repository(opening: repository.gitDirectory)
        let tags = try watched.snapshot(under: "refs/tags/").refs
        let dated = tags.compactMap { tag in
            (try? watched.commit(tag.value)).map { (name: String(tag.key.dropFirst("refs/tags/".count)), $0) }
        }.filter { !others.contains($0.name) }
        let sorted = dated.sorted { ($0.1.committer.time, $0.name) > ($1.1.committer.time, $1.name) }
        // In a repository with thousands of tags, a merge must not walk its whole history for each of them.
        for (name, tagged) in sorted.prefix(50) where tagged.id != commit {
            if (try? watched.isAncestor(tagged.id, of: commit)) == true { return name }
        }
        return nil
    }

    package static func parameters(
        of declaration: WorkflowDeclaration, given: [String: String]
    ) throws -> [String: String] {
        var values: [String: String] = [:]
        var problems: [String] = []
        let known = Set(declaration.parameters.map(\.name))
        for name in given.keys.sorted() where !known.contains(name) {
            let list = known.isEmpty ? "it has none" : "it has \(known.sorted().joined(separator: ", "))"
            problems.append("workflow \"\(declaration.name)\" has no parameter \"\(name)\"; \(list)")
        }
        for parameter in declaration.parameters {
            switch parameter.value(given: given[parameter.name]) {
            case .success(let value): values[parameter.name] = value
            case .failure(let problem): problems.append(problem.description)
            }
        }
        guard problems.isEmpty else {
            throw EarlyVerdict(verdict: .definitionError, reason: problems.joined(separator: "; "))
        }
        return values
    }
}

extension Plan {
    /// The plan with only `names` and what they need.
    func keeping(_ names: [String]) throws -> Plan {
        let byName = Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var kept: Set<String> = []
        // The name of a divided step stands for its parts.
        var waiting = names.flatMap { parts(of: $0) ?? [$0] }
        while let name = waiting.popLast() {
            guard let step = byName[name] else {
                let known = steps.map(\.name)
                throw DefinitionError(
                    .invalid,
                    "workflow \"\(workflow)\" has no step \"\(name)\"."
                        + NameSuggestion.question(for: name, among: known)
                        + " It has: \(known.joined(separator: ", "))."
                )
            }
            if kept.insert(name).inserted { waiting += step.needs }
        }
        var plan = self
        plan.steps = steps.filter { kept.contains($0.name) }
        return plan
    }
}
