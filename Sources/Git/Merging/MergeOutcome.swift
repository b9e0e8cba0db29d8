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

/// What merging a change into its target gives.
public enum MergeOutcome: Sendable, Equatable {
    /// The merged tree, written to the object store of whoever merged.
    case merged(tree: OID)
    /// One entry for each path that needs a person, sorted by path.
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

/// What the three versions of a conflicting path have there, as an index's stages 1 to 3: modes, `nil` for nothing.
struct ConflictStages: Equatable {
    var base: UInt32?
    var target: UInt32?
    var change: UInt32?

    /// What kind of conflict it is, in words.
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
