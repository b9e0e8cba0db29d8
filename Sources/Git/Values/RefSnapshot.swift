/// All refs of a repository at one moment.
public struct RefSnapshot: Sendable, Equatable {
    /// Full name to commit: symbolic refs followed, annotated tags peeled.
    ///
    /// A tag on a tree or a blob keeps that object's id. Left out are symbolic refs to nothing, names that are not
    /// valid UTF-8, and of names that differ in nothing but how Unicode composes them all but the composed one.
    public var refs: [String: OID]
    /// The full name of the branch that `HEAD` points to, also while it has no commit; `nil` when detached.
    public var head: String?

    public init(refs: [String: OID], head: String?) {
        self.refs = refs
        self.head = head
    }

    /// What became different since `old`, sorted by name; `HEAD` is not part of it.
    public func changes(since old: RefSnapshot) -> [RefChange] {
        var changes: [RefChange] = []
        for (name, id) in refs where old.refs[name] != id {
            changes.append(RefChange(name: name, old: old.refs[name], new: id))
        }
        for (name, id) in old.refs where refs[name] == nil {
            changes.append(RefChange(name: name, old: id, new: nil))
        }
        return changes.sorted { $0.name < $1.name }
    }
}

/// One ref that appeared (`old` is `nil`), moved, or vanished (`new` is `nil`).
public struct RefChange: Sendable, Equatable {
    public var name: String
    public var old: OID?
    public var new: OID?

    public init(name: String, old: OID?, new: OID?) {
        self.name = name
        self.old = old
        self.new = new
    }
}
