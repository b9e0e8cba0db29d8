/// All refs of a repository at one moment.
public struct RefSnapshot: Sendable, Equatable {
    /// Full name to commit: symbolic refs are followed, annotated tags are peeled.
    ///
    /// A tag of a tree or a blob keeps that object's id. Left out are symbolic refs to nothing and names that are not
    /// valid UTF-8. If several names differ only in how Unicode composes them, only the composed one is kept.
    public var refs: RefTable
    /// The full name of the branch that `HEAD` points to, even if it has no commit; nil if `HEAD` is detached.
    public var head: String?

    public init(refs: RefTable, head: String?) {
        self.refs = refs
        self.head = head
    }

    public init(refs: [String: OID], head: String?) { self.init(refs: RefTable(refs), head: head) }

    /// The refs that differ from those of `old`, sorted by name. `HEAD` is not included.
    public func changes(since old: RefSnapshot) -> [RefChange] {
        var changes: [RefChange] = []
        var (here, there) = (0, 0)
        while here < refs.count || there < old.refs.count {
            let order =
                if here == refs.count {
                    1
                } else if there == old.refs.count {
                    -1
                } else {
                    old.refs.withName(at: there) { refs.order(at: here, $0) }
                }
            let new = order <= 0 ? refs.id(at: here) : nil
            let before = order >= 0 ? old.refs.id(at: there) : nil
            if new != before {
                let name = order <= 0 ? refs.name(at: here) : old.refs.name(at: there)
                changes.append(RefChange(name: name, old: before, new: new))
            }
            if order <= 0 { here += 1 }
            if order >= 0 { there += 1 }
        }
        return changes
    }
}

/// A ref that appeared (`old` is nil), moved, or was deleted (`new` is nil).
public struct RefChange: Sendable, Equatable {
    /// The full name.
    public var name: String
    public var old: OID?
    public var new: OID?

    public init(name: String, old: OID?, new: OID?) {
        self.name = name
        self.old = old
        self.new = new
    }
}
