extension Workflow {
    /// Has the box look for the commit that broke a test when a run of the branch itself fails.
    ///
    /// In idle time, over the branch's line of first parents; what the archive knows is not run again. The answer, "broken
    /// by change 41", is a finding of the next reports in which the test fails.
    public func bisectsWhenRed(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.bisectsWhenRed = on
        return copy
    }
}
