/// Which machines run a step.
extension Step {
    /// Runs the step only on a machine that has all these traits: `.on(.macOS)`, `.on(.label("gpu"), .arch(.arm64))`.
    ///
    /// Default: any machine. If that of the run does not have what the step asks for, the step runs on another one, where
    /// it finds the commit and the ``outputs(_:)`` of the steps that it needs; each of them must declare these, and so
    /// must the step if others need it.
    public func on(_ traits: MachineTrait...) -> Step { needing(MachineNeeds(traits: traits)) }

    /// Runs the step only on a machine that has `count` processors for it. This is no limit.
    public func cpus(_ count: Int) -> Step { needing(MachineNeeds(cpus: count)) }

    /// Runs the step only on a machine that has this much memory for it. This is no limit: see
    /// ``limits(_:)``.
    public func memory(_ bytes: ByteCount) -> Step { needing(MachineNeeds(memory: bytes.bytes)) }

    /// A later modifier of the same kind counts, and traits add up.
    private func needing(_ needs: MachineNeeds) -> Step {
        var copy = self
        let before = planned.machine ?? MachineNeeds()
        copy.planned.machine = MachineNeeds(
            traits: before.traits + needs.traits, cpus: needs.cpus ?? before.cpus,
            memory: needs.memory ?? before.memory)
        return copy
    }
}
