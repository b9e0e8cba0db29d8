public import Foundation
internal import Pipeline

/// A step that passed, and whose result holds for every run with the same key.
public struct StepProof: Sendable, Equatable, Codable {
    /// ``StepKey/value``.
    public var key: String
    /// ``StepKey/definition``.
    public var definition: String
    /// Whom it counts for: ``ProofScope``.
    public var scope: String
    public var workflow: String
    public var citation: ProofCitation

    public init(key: String, definition: String, scope: String, workflow: String, citation: ProofCitation) {
        self.key = key
        self.definition = definition
        self.scope = scope
        self.workflow = workflow
        self.citation = citation
    }
}

/// A step whose proofs are not believed, because one of them was wrong.
public struct DistrustedStep: Sendable, Equatable, Codable {
    public var repository: String
    public var workflow: String
    public var step: String
    /// ``StepKey/definition``: a step that is declared in another way is another one.
    public var definition: String
    /// The run in which it failed although it was proved.
    public var run: RunID
    /// The run whose proof was wrong.
    public var provedBy: RunID
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

/// Proofs of one step, counted.
public struct ProofCount: Sendable, Equatable, Codable {
    public var repository: String
    public var workflow: String
    public var step: String
    /// Of merged code: they count for everybody.
    public var merged: Int
    /// Of one change or branch: they count for it, and for what it becomes when it lands.
    public var own: Int
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

/// Whom a proof counts for: nothing of one change is believed for another one.
public enum ProofScope {
    /// For everybody: proved by code that is merged.
    public static let merged = "merged"

    /// For the same change, at whatever head, and for the merge that brings it in.
    public static func change(_ name: String) -> String { "change \(name)" }

    /// For the same branch or tag that is not merged.
    public static func ref(_ name: String) -> String { "ref \(name)" }

    /// Where the results of a run count; nil for a working tree, which counts nowhere.
    public static func own(_ trust: Trust, change: String?, ref: String) -> String? {
        if trust == .merged { return merged }
        if let change { return Self.change(change) }
        return ref.isEmpty ? nil : Self.ref(ref)
    }

    /// Whose proofs a run believes.
    public static func believed(_ trust: Trust, _ request: RunRequest) -> [String] {
        let own = own(trust, change: request.change?.name, ref: request.ref)
        let landed = trust == .merged ? request.mergedChanges.map { change($0.name) } : []
        return Array(Set([merged] + (own.map { [$0] } ?? []) + landed)).sorted()
    }
}
