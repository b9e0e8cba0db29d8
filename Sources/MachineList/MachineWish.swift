package import MachinePool
package import Pipeline

/// What a person says about a machine that is to be added.
package struct MachineWish: Sendable {
    package var address: String
    package var name: String?
    package var labels: [String]
    package var slots: Int
    /// Nil for all that the machine has.
    package var cpus: Int?
    /// Bytes; nil for all that the machine has.
    package var memory: Int?
    /// See ``Machine/shared``.
    package var shared: String?

    package init(
        _ address: String, name: String? = nil, labels: [String] = [], slots: Int = 1, cpus: Int? = nil,
        memory: Int? = nil, shared: String? = nil
    ) {
        (self.address, self.name, self.labels) = (address, name, labels)
        (self.slots, self.cpus, self.memory, self.shared) = (slots, cpus, memory, shared)
    }

    /// The machine, as far as it is known before it was asked.
    ///
    /// - Throws: ``MachineListError`` with `unusable`.
    package func machine() throws(MachineListError) -> Machine {
        guard let place = MachineAddress(address) else {
            throw MachineListError(
                .unusable, "\"\(address)\" is no address of a machine; write ssh://user@host, or slurm")
        }
        let named = labels.map { MachineTrait.label($0) }
        if let taken = named.first(where: \.isMeasured) {
            throw MachineListError(.unusable, "\(taken.name) is found out from the machine; leave that label out")
        }
        var machine = Machine(
            name: name ?? place.usualName, address: place, traits: named, cpus: cpus ?? 1, memory: memory ?? 1 << 30,
            slots: slots, shared: shared)
        if case .slurm = place {
            guard cpus != nil, memory != nil else {
                throw MachineListError(
                    .unusable, "--cpus and --memory are missing; they say how large the largest allocation is")
            }
            machine = machine.offering([.linux])
        }
        if let problem = MachineList.problem(of: machine) { throw MachineListError(.unusable, problem) }
        return machine
    }

    /// The machine, completed by what it offers.
    package func machine(
        offering found: (traits: [MachineTrait], cpus: Int, memory: Int)
    ) throws(MachineListError) -> Machine {
        var machine = try machine().offering(found.traits)
        (machine.cpus, machine.memory) = (cpus ?? found.cpus, memory ?? found.memory)
        return machine
    }
}

extension Machine {
    /// The machine, with its nodes' processor if they have one.
    package func with(_ processor: ClusterProcessor) -> Machine { processor.trait.map { offering([$0]) } ?? self }

    fileprivate func offering(_ more: [MachineTrait]) -> Machine {
        Machine(
            name: name, address: address, traits: traits + more, cpus: cpus, memory: memory, slots: slots,
            shared: shared, state: state)
    }
}
