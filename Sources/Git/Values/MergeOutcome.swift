/// What merging a change into its target gives.
public enum MergeOutcome: Sendable, Equatable {
    /// The merged tree, written to the object store.
    case merged(tree: OID)
    /// Nothing was written; one entry for each path that needs a person, sorted by path.
    case conflicts([MergeConflict])
}

/// One path that both sides changed in ways that do not combine.
public struct MergeConflict: Sendable, Equatable, Codable {
    public var path: String
    /// In words: "both modified", "added by both", "deleted by change, modified on target", …
    public var kind: String

    public init(path: String, kind: String) {
        self.path = path
        self.kind = kind
    }
}
