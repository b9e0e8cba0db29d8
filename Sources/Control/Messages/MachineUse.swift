public import Results

/// A machine that runs steps, and what it does now.
public struct MachineUse: Sendable, Equatable, Codable {
    /// Unique among the machines.
    public var name: String
    /// `ssh://user@host`, `slurm`, or `this machine`.
    public var address: String
    /// Its system, its processor and its labels.
    public var offers: [String]
    public var cpus: Int
    /// Bytes.
    public var memory: Int
    /// How many runs it may have at a time.
    public var slots: Int
    /// How many further runs it could have; nil if no daemon runs.
    public var free: Int?
    /// The runs that it has.
    public var runs: [RunID]
    /// Why it is not used, as the rest of a sentence; nil if it may be.
    public var reason: String?

    package init(
        name: String, address: String, offers: [String], cpus: Int, memory: Int, slots: Int, free: Int? = nil,
        runs: [RunID] = [], reason: String? = nil
    ) {
        (self.name, self.address, self.offers) = (name, address, offers)
        (self.cpus, self.memory, self.slots) = (cpus, memory, slots)
        (self.free, self.runs, self.reason) = (free, runs, reason)
    }
}
