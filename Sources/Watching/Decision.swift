import Results
import Store
import Foundation
import Git
package import Pipeline

/// Decides which runs an observation starts and how the states of changes change: a pure function.
struct Decision: Sendable, Equatable {
    var requests: [RunRequest] = []
    var changes: [ChangeRecord] = []

    /// The workflows at one commit.
    enum Definition: Sendable {
        case workflows([WorkflowDeclaration])
        /// They can't be compiled or are invalid; a run reports that.
        case broken
        /// The commit has no `workflows/`.
        case none

        /// Whether a trigger filters by changed paths.
        var asksForPaths: Bool {
            guard case .workflows(let declarations) = self else { return false }
            return declarations.contains { $0.triggers.contains { !$0.paths.isEmpty || !$0.ignoredPaths.isEmpty } }
        }
    }

    /// The name under which a broken definition is reported, since no workflow's name is known.
    static let unknownWorkflow = "workflows"

    /// - Parameters:
    ///   - known: The changes in the index.
    ///   - definition: Returns the workflows at a commit.
    ///   - refreshes: Whether snapshots of moved branches are wanted.
    ///   - paths: Returns the changed paths between two commits; called only if a trigger filters by path. Nil if they
    ///     can't be determined: then every filter matches.
    static func make(
        repository: String, observation: RefObservation, known: [ChangeRecord], refreshes: Bool = false,
        definition: (OID) -> Definition, paths: (_ from: OID?, _ to: OID) -> [String]?
    ) -> Decision {
        var decision = Decision()
        let byName = Dictionary(known.map { ($0.name, $0) }, uniquingKeysWith: { $1 })

        for change in observation.changes {
            decision.note(change, byName[change.name], repository, definition, paths)
        }
        for refreshed in observation.refreshed {
            guard let record = byName[refreshed.change.name] else { continue }
            decision.note(refreshed, record, repository, definition, paths)
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
            decision.note(branch, observation, byName, repository, definition, paths)
            let isTarget = branch.name == observation.defaultTarget || known.contains { $0.target == branch.name }
            decision.requests += requests(
                of: branch, repository: repository, refreshes: refreshes && isTarget && branch.old != nil,
                definition: definition, paths: paths)
        }
        for tag in observation.tags {
            decision.requests += requests(of: tag, repository: repository, definition: definition)
        }
        return decision
    }

    /// Records a change whose head is new, and tests it unless it has landed.
    private mutating func note(
        _ change: RefObservation.MovedChange, _ known: ChangeRecord?, _ repository: String,
        _ definition: (OID) -> Definition, _ paths: (OID?, OID) -> [String]?
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
            requests += Decision.requests(
                testing: change, repository: repository, nonce: "", definition: definition, paths: paths
            ) { _ in true }
        }
        changes.append(record)
    }

    /// Updates a change about which the forge says something new, and tests what applies to it now and did not before.
    ///
    /// A change that wants into another branch now is tested with that one, whatever was tested before.
    private mutating func note(
        _ refreshed: RefObservation.RefreshedChange, _ record: ChangeRecord, _ repository: String,
        _ definition: (OID) -> Definition, _ paths: (OID?, OID) -> [String]?
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
        let new = Decision.requests(
            testing: change, repository: repository, nonce: isRetargeted ? "onto \(change.targetCommit.hex)" : "",
            definition: definition, paths: paths
        ) { declaration in
            isRetargeted
                || !declaration.triggers.contains { trigger in
                    trigger.event == .pullRequest && trigger.matches(branch: change.target)
                        && Decision.suits(refreshed.decided, trigger)
                }
        }
        requests += new
        if isRetargeted || !new.isEmpty {
            (updated.target, updated.targetCommit, updated.state) = (change.target, change.targetCommit.hex, .open)
        }
        changes.append(updated)
    }

    /// Whether the forge's facts let a trigger start a run; without them a change is no draft and has no labels.
    private static func suits(_ facts: ChangeFacts?, _ trigger: Trigger) -> Bool {
        facts.map { $0.suits(trigger) } ?? trigger.matches(isDraft: false, labels: [])
    }

    /// Updates the changes that a moved branch affects: those that landed in it, and those that are stale now.
    private mutating func note(
        _ branch: RefObservation.MovedBranch, _ observation: RefObservation, _ known: [String: ChangeRecord],
        _ repository: String,
        _ definition: (OID) -> Definition, _ paths: (OID?, OID) -> [String]?
    ) {
        let moved = Set(observation.changes.map(\.name))
        var landed: Set<String> = []
        for landing in branch.landings where landed.insert(landing.change).inserted {
            changes.removeAll { $0.name == landing.change }
            requests.removeAll { $0.change?.name == landing.change && $0.event == .pullRequest }
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
            let retests = Decision.requests(
                testing: change, repository: repository, nonce: "onto \(branch.new.hex)", definition: definition,
                paths: paths
            ) { $0.retestsStaleChanges || record.state == .conflict || record.targetCommit == nil }
            requests += retests
            var updated = record
            updated.state = retests.isEmpty ? .stale : .open
            if !retests.isEmpty { updated.targetCommit = branch.new.hex }
            changes.append(updated)
        }
    }

    /// The runs that a moved branch starts: of its workflows, or one that reports that they can't be read.
    ///
    /// - Parameter refreshes: Whether snapshots of the branch are wanted.
    private static func requests(
        of branch: RefObservation.MovedBranch, repository: String, refreshes: Bool,
        definition: (OID) -> Definition, paths: (OID?, OID) -> [String]?
    ) -> [RunRequest] {
        let source = branch.definition ?? branch.new
        func run(
            _ declaration: WorkflowDeclaration, _ event: Trigger.Event, landings: [LandedChange]
        ) -> RunRequest {
            request(
                declaration, event: event, repository: repository, ref: branch.ref, branch: branch.name,
                commit: branch.new, definition: source, previous: branch.old, landings: landings)
        }
        let found = definition(source)
        if case .broken = found, branch.old != nil {
            // It is unknown whether a broken definition would have tested this branch, so it must be reported.
            return [run(WorkflowDeclaration(name: unknownWorkflow, triggers: []), .push, landings: [])]
        }
        var wanted: [RunRequest] = []
        for declaration in declarations(found) {
            if refreshes, declaration.needsRefresh(on: branch.name) {
                wanted.append(
                    .warmUp(
                        declaration.name, repository: repository, branch: branch.name, commit: branch.new.hex,
                        definition: source.hex))
            }
            let trigger = declaration.triggers.first { trigger in
                (trigger.event == .merge || trigger.event == .push) && trigger.matches(branch: branch.name)
                    && (branch.old != nil || trigger.event == .push)
                    && trigger.matches(pathsOf: { paths(branch.old, branch.new) })
            }
            if let trigger { wanted.append(run(declaration, trigger.event, landings: branch.landings)) }
        }
        return wanted
    }

    /// The runs that a new or moved tag starts.
    private static func requests(
        of tag: RefObservation.MovedTag, repository: String, definition: (OID) -> Definition
    ) -> [RunRequest] {
        let source = tag.definition ?? tag.commit
        return declarations(definition(source)).filter { declaration in
            declaration.triggers.contains { $0.event == .tag && $0.matches(branch: tag.name) }
        }.map { declaration in
            request(
                declaration, event: .tag, repository: repository, ref: tag.ref, branch: nil, commit: tag.commit,
                definition: source, previous: nil, landings: [])
        }
    }

    private static func declarations(_ definition: Definition) -> [WorkflowDeclaration] {
        if case .workflows(let declarations) = definition { declarations } else { [] }
    }

    private static func requests(
        testing change: RefObservation.MovedChange, repository: String, nonce: String,
        definition: (OID) -> Definition, paths: (OID?, OID) -> [String]?,
        where condition: (WorkflowDeclaration) -> Bool
    ) -> [RunRequest] {
        let source = change.definition ?? change.targetCommit
        let found = definition(source)
        var wanted = declarations(found).filter { declaration in
            condition(declaration)
                && declaration.triggers.contains { trigger in
                    // The paths of an unreadable change are unknown; its run reports the reason.
                    trigger.event == .pullRequest && trigger.matches(branch: change.target)
                        && suits(change.facts, trigger)
                        && (change.problem != nil
                            || trigger.matches(pathsOf: { paths(change.targetCommit, change.head) }))
                }
        }
        if case .broken = found, nonce.isEmpty { wanted = [WorkflowDeclaration(name: unknownWorkflow, triggers: [])] }
        return wanted.map { declaration in
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

extension Trigger {
    /// Computes the changed paths only if the trigger filters by path.
    fileprivate func matches(pathsOf changed: () -> [String]?) -> Bool {
        paths.isEmpty && ignoredPaths.isEmpty || changed().map { matches(paths: $0) } ?? true
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
