/// Which machines run the steps of a workflow.
extension Workflow {
    /// Runs all steps only on machines that have these traits. A step that names another system or processor replaces
    /// those of the workflow.
    public func on(_ traits: MachineTrait...) -> Workflow { needing(MachineNeeds(traits: traits)) }

    /// Runs each step only on a machine that has `count` processors for it, unless the step says otherwise.
    public func cpus(_ count: Int) -> Workflow { needing(MachineNeeds(cpus: count)) }

    /// Runs each step only on a machine that has this much memory for it, unless the step says otherwise.
    public func memory(_ bytes: ByteCount) -> Workflow { needing(MachineNeeds(memory: bytes.bytes)) }

    private func needing(_ needs: MachineNeeds) -> Workflow {
        var copy = self
        let before = declaration.machine ?? MachineNeeds()
        copy.declaration.machine = MachineNeeds(
            traits: before.traits + needs.traits, cpus: needs.cpus ?? before.cpus,
            memory: needs.memory ?? before.memory)
        return copy
    }
}
