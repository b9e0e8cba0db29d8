public import Foundation
internal import Pipeline

/// A step that passed, and whose result is valid for every run with the same key.
public struct StepProof: Sendable, Equatable, Codable {
    /// The ``StepKey/value`` of the step.
    public var key: String
    /// The ``StepKey/definition`` of the step.
    public var definition: String
    /// Which runs may use the proof: see ``ProofScope``.
    public var scope: String
    /// The workflow's name.
    public var workflow: String
    /// The run in which the step passed.
    public var citation: ProofCitation

    public init(key: String, definition: String, scope: String, workflow: String, citation: ProofCitation) {
        self.key = key
        self.definition = definition
        self.scope = scope
        self.workflow = workflow
        self.citation = citation
    }
}

/// A step that is not proved for some time, because one of its proofs was wrong.
public struct DistrustedStep: Sendable, Equatable, Codable {
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The step's name.
    public var step: String
    /// The ``StepKey/definition`` of the step. A step with another declaration is not concerned.
    public var definition: String
    /// The run in which the step failed although it was proved.
    public var run: RunID
    /// The run whose proof was wrong.
    public var provedBy: RunID
    /// When the wrong proof was found.
    public var at: Date

    package init(
        repository: String, workflow: String, step: String, definition: String, run: RunID, provedBy: RunID, at: Date
    ) {
        self.repository = repository
        self.workflow = workflow
        self.step = step
        self.definition = definition
        self.run = run
        self.provedBy = provedBy
        self.at = at
    }
}

/// The number of proofs of one step.
public struct ProofCount: Sendable, Equatable, Codable {
    /// The watched repository's name.
    public var repository: String
    /// The workflow's name.
    public var workflow: String
    /// The step's name.
    public var step: String
    /// Proofs by merged code, which every run may use.
    public var merged: Int
    /// Proofs by one change or branch. Only its own runs may use them, and the run of the merge that lands it.
    public var own: Int
    /// The number of the newest run with a proof of the step.
    public var newest: RunID

    package init(
        repository: String, workflow: String, step: String, merged: Int, own: Int, newest: RunID
    ) {
        self.repository = repository
        self.workflow = workflow
        self.step = step
        self.merged = merged
        self.own = own
        self.newest = newest
    }
}

/// Which runs may use a proof. A run of one change never uses a proof by another change.
public enum ProofScope {
    /// Every run: merged code made the proof.
    public static let merged = "merged"

    /// Runs of the same change, at any head, and the run of the merge that lands it.
    public static func change(_ name: String) -> String { "change \(name)" }

    /// Runs of the same unmerged branch or tag.
    public static func ref(_ name: String) -> String { "ref \(name)" }

    /// The scope of the proofs that a run makes; nil for a run of a working tree, which makes none.
    public static func own(_ trust: Trust, change: String?, ref: String) -> String? {
        if trust == .merged { return merged }
        if let change { return Self.change(change) }
        return ref.isEmpty ? nil : Self.ref(ref)
    }

    /// The scopes whose proofs a run may use.
    public static func believed(_ trust: Trust, _ request: RunRequest) -> [String] {
        let own = own(trust, change: request.change?.name, ref: request.ref)
        let landed = trust == .merged ? request.mergedChanges.map { change($0.name) } : []
        return Array(Set([merged] + (own.map { [$0] } ?? []) + landed)).sorted()
    }
}
