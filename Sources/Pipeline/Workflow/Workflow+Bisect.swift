extension Workflow {
    /// Makes the daemon search for the commit that broke a test when a run of the branch itself fails.
    ///
    /// It searches the branch's first parents while the build box is idle, and does not repeat runs that are in the
    /// archive. The answer, "broken by change 41", is a finding in the next reports in which the test fails.
    public func bisectsWhenRed(_ on: Bool = true) -> Workflow {
        var copy = self
        copy.declaration.bisectsWhenRed = on
        return copy
    }
}
