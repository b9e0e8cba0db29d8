extension PlannedStep {
    /// The step in all but name, action and needs: those of a loop are beside each other, and mostly of one kind.
    package var kind: PlannedStep {
        var kind = self
        (kind.name, kind.action, kind.needs) = ("", .closure, [])
        return kind
    }
}
