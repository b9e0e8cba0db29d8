package import MachineLinks
package import MachinePool
package import Pipeline

/// The processor of a cluster's nodes, which decides what can run there.
package enum ClusterProcessor: Sendable, Equatable {
    /// All nodes have this one.
    case one(MachineTrait)
    /// They differ, or have one that no step can name.
    case several([String])
    /// No node says what it is.
    case unknown

    /// - Parameter architectures: As ``MachinePlatform`` names them; of a node that was never up, nothing.
    init(_ architectures: [String?]) {
        let names = Set(architectures.compactMap { $0 }).sorted()
        if names.isEmpty {
            self = .unknown
        } else if names.count == 1, let known = MachineTrait.Architecture(rawValue: names[0]) {
            self = .one(.arch(known))
        } else {
            self = .several(names)
        }
    }

    /// The processor of these nodes.
    package static func of(_ nodes: [SlurmNode], at slurm: SlurmCommands) async throws -> ClusterProcessor {
        let known = try await slurm.architectures()
        return ClusterProcessor(nodes.map { known[$0.name] })
    }

    /// The processor of a machine's nodes, if it is a cluster.
    ///
    /// - Parameter own: The variables of this process.
    package static func of(_ machine: Machine, _ own: [String: String]) async throws -> ClusterProcessor? {
        guard case .slurm(let partition) = machine.address else { return nil }
        let slurm = SlurmCommands(environment: SlurmCommands.environment(of: own))
        return try await of(slurm.nodes(in: partition), at: slurm)
    }

    package var trait: MachineTrait? { if case .one(let trait) = self { trait } else { nil } }

    /// What the person who adds the cluster must know, as sentences; nil if there is nothing.
    package var caution: String? {
        let loss = "No step that names a processor runs there, and no step of a run there moves to another machine."
        switch self {
        case .one: return nil
        case .several(let names):
            return
                "its nodes have different processors, or one that pipectl has no name for (\(names.joined(separator: ", "))). "
                + "\(loss) Add a cluster once for each of its partitions that has one processor: slurm://PARTITION."
        case .unknown:
            return "Slurm does not say which processor its nodes have. \(loss) The daemon asks again every minute."
        }
    }
}
