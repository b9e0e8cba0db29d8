/// Two commits that are to be merged.
public struct MergePair: Sendable, Hashable {
    /// The change's commit.
    public var head: OID
    /// The commit that it is merged into.
    public var target: OID

    public init(_ head: OID, into target: OID) {
        self.head = head
        self.target = target
    }
}

/// The result of merging a change into its target.
public enum MergeOutcome: Sendable, Equatable {
    /// The merged tree, which was written to the object store of the repository that merged.
    case merged(tree: OID)
    /// One entry for each path that a person must resolve, sorted by path.
    case conflicts([MergeConflict])
}

/// One path that both sides changed in ways that do not combine.
public struct MergeConflict: Sendable, Equatable, Codable {
    /// Relative to the repository.
    public var path: String
    /// In words: "both modified", "added by both", "deleted by change, modified on target", …
    public var kind: String

    public init(path: String, kind: String) {
        self.path = path
        self.kind = kind
    }
}

/// The three versions of a conflicting path, as in stages 1 to 3 of an index: their modes, nil for no version.
struct ConflictStages: Equatable {
    var base: UInt32?
    var target: UInt32?
    var change: UInt32?

    /// The kind of conflict, in words.
    var kind: String {
        switch (base, target, change) {
        case (let base?, let target?, let change?):
            let types = Set([base, target, change].map { $0 & 0o170000 })
            if types == [0o160000] { return "submodule moved by both" }
            return types.count == 1 ? "both modified" : "both changed its type"
        case (nil, .some, .some): return "added by both"
        case (.some, .some, nil): return "deleted by change, modified on target"
        case (.some, nil, .some): return "deleted on target, modified by change"
        case (.some, nil, nil): return "renamed differently by both"
        case (nil, .some, nil): return "added on target where the change has a folder or a rename"
        case (nil, nil, _): return "added by change where the target has a folder or a rename"
        }
    }
}
