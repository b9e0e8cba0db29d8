import Results
import Store
import Foundation
import Git
import LandedChanges
package import Pipeline

/// Decides which runs an observation starts and how the states of changes change: a pure function.
struct Decision: Sendable, Equatable {
    var requests: [RunRequest] = []
    var changes: [ChangeRecord] = []
    /// The workflows that a filter of their triggers held back, for each ref about which this look decided as about a push.
    var heldBack: [String: [HeldBackWorkflow]] = [:]

    /// The workflows at one commit.
    enum Definition: Sendable {
        case workflows([WorkflowDeclaration])
        /// They can't be compiled or are invalid; a run reports that.
        case broken
        /// The commit has no `workflows/`.
        case none

        /// Whether a trigger filters by something of the commits.
        var asksAboutCommits: Bool {
            guard case .workflows(let declarations) = self else { return false }
            return declarations.contains { $0.triggers.contains(where: \.asksAboutCommits) }
        }
    }

    /// The name under which a broken definition is reported, since no workflow's name is known.
    static let unknownWorkflow = "workflows"

    /// - Parameters:
    ///   - known: The changes in the index.
    ///   - definition: Returns the workflows at a commit.
    ///   - refreshes: Whether snapshots of moved branches are wanted.
    ///   - commits: What filters of triggers ask about commits.
    static func make(
        repository: String, observation: RefObservation, known: [ChangeRecord], refreshes: Bool = false,
        definition: (OID) -> Definition, commits: CommitFacts
    ) -> Decision {
        var decision = Decision()
        let byName = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { $1 })

        for change in observation.changes {
            decision.note(change, byName[change.name], repository, definition, commits)
        }
        for refreshed in observation.refreshed {
            guard let record = byName[refreshed.change.name] else { continue }
            decision.note(refreshed, record, repository, definition, commits)
        }
        for name in observation.closed {
            guard var record = byName[name], record.state != .landed else { continue }
            record.state = .closed
            decision.changes.append(record)
        }
        for var branch in observation.branches {
            // A change is also contained in its own source branch, but only its target can land it.
            branch.landings.removeAll { landing in
                let name = landing.change
                return (observation.targets[name] ?? byName[name]?.target ?? observation.defaultTarget) != branch.name
            }
            decision.note(branch, observation, byName, repository, definition, commits)
            let isTarget = branch.name == observation.defaultTarget || known.contains { $0.target == branch.name }
            decision.start(
                branch, repository: repository, refreshes: refreshes && isTarget && branch.old != nil,
                definition: definition, commits: commits)
        }
        for tag in observation.tags {
            decision.start(tag, repository: repository, definition: definition, commits: commits)
        }
        return decision
    }

    /// Records a change whose head is new, and tests it unless it has landed.
    private mutating func note(
        _ change: RefObservation.MovedChange, _ known: ChangeRecord?, _ repository: String,
        _ definition: (OID) -> Definition, _ commits: CommitFacts
    ) {
        var record = ChangeRecord(
            name: change.name, target: change.target, head: change.head.hex,
            targetCommit: change.targetCommit.hex, state: change.isLanded ? .landed : .open, title: change.title,
            author: change.author)
        if case .none = definition(change.definition ?? change.targetCommit) {
            // No workflow can test it yet; it waits until the target has workflows.
            record.targetCommit = nil
        }
        if change.isLanded {
            record.landedCommit = known?.landedCommit ?? change.targetCommit.hex
            record.recognition = known?.recognition
        } else {
            if change.facts?.isOpen == false { record.state = .closed }
            let found = Decision.requests(
                testing: change, repository: repository, nonce: "", definition: definition, commits: commits
            ) { _ in true }
            requests += found.requests
            heldBack[change.ref] = found.heldBack
        }
        changes.append(record)
    }

    /// Updates a change about which the forge says something new, and tests what applies to it now and did not before.
    ///
    /// A change that wants into another branch now is tested with that one, whatever was tested before.
    private mutating func note(
        _ refreshed: RefObservation.RefreshedChange, _ record: ChangeRecord, _ repository: String,
        _ definition: (OID) -> Definition, _ commits: CommitFacts
    ) {
        let change = refreshed.change
        guard record.state != .landed, !change.isLanded, let facts = change.facts else { return }
        var updated = record
        (updated.title, updated.author, updated.head) = (change.title, change.author, change.head.hex)
        guard facts.isOpen else {
            updated.state = .closed
            return changes.append(updated)
        }
        if record.state == .closed { updated.state = .open }
        let isRetargeted = record.target != change.target
        // What was closed before started nothing.
        let before =
            refreshed.decided?.isOpen == false
            ? nil
            : commits.ofPush(to: change.target, from: change.targetCommit, to: change.head, forge: refreshed.decided)
        let (new, heldBack) = Decision.requests(
            testing: change, repository: repository, nonce: isRetargeted ? "onto \(change.targetCommit.hex)" : "",
            definition: definition, commits: commits
        ) { declaration in
            isRetargeted || before.map { !declaration.trigger(for: $0) { $0 == .pullRequest }.isStart } ?? true
        }
        requests += new
        self.heldBack[change.ref] = heldBack
        if isRetargeted || !new.isEmpty {
            (updated.target, updated.targetCommit, updated.state) = (change.target, change.targetCommit.hex, .open)
        }
        changes.append(updated)
    }

    /// Updates the changes that a moved branch affects: those that landed in it, and those that are stale now.
    private mutating func note(
        _ branch: RefObservation.MovedBranch, _ observation: RefObservation, _ known: [String: ChangeRecord],
        _ repository: String,
        _ definition: (OID) -> Definition, _ commits: CommitFacts
    ) {
        let moved = Set(observation.changes.map(\.name))
        var landed: Set<String> = []
        for landing in branch.landings where landed.insert(landing.change).inserted {
            changes.removeAll { $0.name == landing.change }
            requests.removeAll { $0.change?.name == landing.change && $0.event == .pullRequest }
            for change in observation.changes where change.name == landing.change { heldBack[change.ref] = nil }
            var record =
                known[landing.change]
                ?? ChangeRecord(
                    name: landing.change, target: branch.name, head: landing.head.hex, state: .landed, title: "",
                    author: "")
            record.state = .landed
            record.landedCommit = landing.commit.hex
            record.recognition = landing.recognition
            changes.append(record)
        }
        for (name, record) in known.sorted(by: { $0.key < $1.key })
        where record.target == branch.name && [.open, .stale, .conflict].contains(record.state)
            && !landed.contains(name) && !moved.contains(name) && record.targetCommit != branch.new.hex
        {
            guard let head = observation.heads[name], head.hex == record.head else { continue }
            let change = RefObservation.MovedChange(
                name: name, ref: observation.refs[name] ?? "", head: head, target: branch.name,
                targetCommit: branch.new,
                title: record.title, author: record.author, isLanded: false, facts: observation.facts[name],
                definition: branch.definition)
            // The head is the one that was decided about when it was pushed, so what was held back is known.
            let retests = Decision.requests(
                testing: change, repository: repository, nonce: "onto \(branch.new.hex)", definition: definition,
                commits: commits
            ) { $0.retestsStaleChanges || record.state == .conflict || record.targetCommit == nil }.requests
            requests += retests
            var updated = record
            updated.state = retests.isEmpty ? .stale : .open
            if !retests.isEmpty { updated.targetCommit = branch.new.hex }
            changes.append(updated)
        }
    }

    /// Starts the runs of a moved branch: of its workflows, or one that reports that they can't be read.
    ///
    /// - Parameter refreshes: Whether snapshots of the branch are wanted.
    private mutating func start(
        _ branch: RefObservation.MovedBranch, repository: String, refreshes: Bool,
        definition: (OID) -> Definition, commits: CommitFacts
    ) {
        let source = branch.definition ?? branch.new
        func run(
            _ declaration: WorkflowDeclaration, _ event: Trigger.Event, landings: [LandedChange]
        ) -> RunRequest {
            Decision.request(
                declaration, event: event, repository: repository, ref: branch.ref, branch: branch.name,
                commit: branch.new, definition: source, previous: branch.old, landings: landings)
        }
        let found = definition(source)
        if case .broken = found, branch.old != nil {
            // It is unknown whether a broken definition would have tested this branch, so it must be reported.
            let unknown = WorkflowDeclaration(name: Decision.unknownWorkflow, triggers: [])
            return requests.append(run(unknown, .push, landings: []))
        }
        let facts = commits.ofPush(to: branch.name, from: branch.old, to: branch.new)
        for declaration in Decision.declarations(found) {
            if refreshes, declaration.needsRefresh(on: branch.name) {
                requests.append(
                    .warmUp(
                        declaration.name, repository: repository, branch: branch.name, commit: branch.new.hex,
                        definition: source.hex))
            }
            switch declaration.trigger(for: facts, where: { $0 == .push || $0 == .merge && branch.old != nil }) {
            case .starts(let trigger): requests.append(run(declaration, trigger.event, landings: branch.landings))
            case .isHeldBack(let objection):
                heldBack[branch.ref, default: []].append(
                    HeldBackWorkflow(name: declaration.name, commit: branch.new.hex, objection))
            case .doesNotApply: break
            }
        }
    }

    /// Starts the runs of a new or moved tag.
    private mutating func start(
        _ tag: RefObservation.MovedTag, repository: String, definition: (OID) -> Definition, commits: CommitFacts
    ) {
        let source = tag.definition ?? tag.commit
        let facts = commits.ofPush(to: tag.name, from: nil, to: tag.commit)
        for declaration in Decision.declarations(definition(source)) {
            switch declaration.trigger(for: facts, where: { $0 == .tag }) {
            case .starts:
                requests.append(
                    Decision.request(
                        declaration, event: .tag, repository: repository, ref: tag.ref, branch: nil,
                        commit: tag.commit, definition: source, previous: nil, landings: []))
            case .isHeldBack(let objection):
                heldBack[tag.ref, default: []].append(
                    HeldBackWorkflow(name: declaration.name, commit: tag.commit.hex, objection))
            case .doesNotApply: break
            }
        }
    }

    private static func declarations(_ definition: Definition) -> [WorkflowDeclaration] {
        if case .workflows(let declarations) = definition { declarations } else { [] }
    }

    private static func requests(
        testing change: RefObservation.MovedChange, repository: String, nonce: String,
        definition: (OID) -> Definition, commits: CommitFacts, where condition: (WorkflowDeclaration) -> Bool
    ) -> (requests: [RunRequest], heldBack: [HeldBackWorkflow]) {
        let source = change.definition ?? change.targetCommit
        let found = definition(source)
        // What an unreadable change brings is unknown; its run reports the reason.
        let facts = (change.problem == nil ? commits : .unknown).ofPush(
            to: change.target, from: change.targetCommit, to: change.head, forge: change.facts)
        // A change that is closed at the forge starts nothing.
        let isOpen = change.facts?.isOpen ?? true
        var wanted: [WorkflowDeclaration] = []
        var heldBack: [HeldBackWorkflow] = []
        for declaration in declarations(found) where isOpen && condition(declaration) {
            switch declaration.trigger(for: facts, where: { $0 == .pullRequest }) {
            case .starts: wanted.append(declaration)
            case .isHeldBack(let objection):
                heldBack.append(HeldBackWorkflow(name: declaration.name, commit: change.head.hex, objection))
            case .doesNotApply: continue
            }
        }
        if case .broken = found, nonce.isEmpty { wanted = [WorkflowDeclaration(name: unknownWorkflow, triggers: [])] }
        let requests = wanted.map { declaration in
            RunRequest(
                repository: repository, workflow: declaration.name, event: .pullRequest, ref: change.ref,
                branch: change.target, head: change.head.hex, definitionCommit: source.hex,
                change: Change(
                    name: change.name, head: change.head.hex, target: change.target,
                    targetCommit: change.targetCommit.hex, title: change.title, author: change.author,
                    isDraft: change.facts?.isDraft ?? false, labels: change.facts?.labels ?? [],
                    headRepository: change.facts?.headRepository),
                nonce: nonce, subject: "change \(change.name)", concurrency: declaration.concurrency ?? .supersede)
        }
        return (requests, heldBack)
    }

    private static func request(
        _ declaration: WorkflowDeclaration, event: Trigger.Event, repository: String, ref: String, branch: String?,
        commit: OID, definition: OID, previous: OID?, landings: [LandedChange]
    ) -> RunRequest {
        RunRequest(
            repository: repository, workflow: declaration.name, event: event, ref: ref, branch: branch,
            head: commit.hex, definitionCommit: definition.hex, previous: previous?.hex,
            mergedChanges: landings.map {
                MergedChange(name: $0.change, head: $0.head.hex, commit: $0.commit.hex, recognition: $0.recognition)
            },
            subject: ref, concurrency: declaration.concurrency ?? .queue(max: 100),
            runsAtMostOnce: declaration.runsAtMostOnce)
    }
}

extension LandedChange {
    /// The same as a value of the workflow library.
    package var recognition: MergedChange.Recognition {
        switch how {
        case .merge: .merge
        case .fastForward: .fastForward
        case .squash: .squash
        case .rebase: .rebase
        case .inside: .inside
        }
    }
}
