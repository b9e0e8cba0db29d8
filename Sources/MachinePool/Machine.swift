package import Pipeline

/// Another machine that runs steps: what it offers, and whether it may be used.
package struct Machine: Sendable, Equatable, Codable {
    /// Whether runs may start on it.
    package enum State: Sendable, Equatable, Codable {
        case ready
        /// Its runs go on, and no others start.
        case draining
        /// Why it could not be reached when that was last tried, as a sentence.
        case unreachable(String)
    }

    /// Unique in the pool.
    package var name: String
    package var address: MachineAddress
    /// Its system, its processor and its labels, sorted by name.
    package var traits: [MachineTrait]
    /// Of a cluster: of its largest allocation.
    package var cpus: Int
    /// Bytes; of a cluster: of its largest allocation.
    package var memory: Int
    /// How many runs it may have at a time.
    package var slots: Int
    /// The path there of a folder that other machines have, too; nil for none.
    package var shared: String?
    package var state: State

    package init(
        name: String, address: MachineAddress, traits: [MachineTrait] = [], cpus: Int, memory: Int, slots: Int = 1,
        shared: String? = nil, state: State = .ready
    ) {
        self.name = name
        self.address = address
        self.traits = Set(traits).sorted { $0.name < $1.name }
        self.cpus = cpus
        self.memory = memory
        self.slots = slots
        self.shared = shared
        self.state = state
    }

    /// Whether each of its runs has an allocation of its own, with processors and memory that no other one has.
    package var isCluster: Bool { if case .slurm = address { true } else { false } }

    /// Whether its system and its processor are known, so that others can be told to be of its kind.
    package var isKindKnown: Bool { MachineTrait.exclusive.allSatisfy { $0.contains(where: traits.contains) } }

    /// What the machine could never offer of these needs, even without any run; empty if it fits.
    package func missing(_ needs: MachineNeeds) -> [String] {
        needs.missing(traits: traits, cpus: cpus, memory: memory)
    }
}

extension MachineNeeds {
    /// What a machine lacks of these needs: `it is not macos`; empty if it has all.
    ///
    /// - Parameter available: The bytes of memory of the machine.
    package func missing(traits offered: [MachineTrait], cpus count: Int, memory available: Int) -> [String] {
        var missing = traits.filter { !offered.contains($0) }.map { "it is not \($0.name)" }
        if let cpus, cpus > count { missing.append("it has \(count) of \(cpus) CPUs") }
        if let memory, memory > available {
            missing.append("it has \(ByteCount(bytes: available)) of \(ByteCount(bytes: memory)) of memory")
        }
        return missing
    }
}

/// What a machine has for further runs.
package struct FreeCapacity: Sendable, Equatable {
    package var slots: Int
    package var cpus: Int
    /// Bytes.
    package var memory: Int

    func fits(_ needs: MachineNeeds) -> Bool {
        slots > 0 && needs.cpus ?? 0 <= cpus && needs.memory ?? 0 <= memory
    }
}
