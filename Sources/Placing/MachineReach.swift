import Foundation
import MachineLinks
import MachineList
package import MachinePool
package import Machines
import Pipeline
import Results
import Sandbox
package import StateFiles
package import Workspaces

/// Knows the ways to machines.
package protocol MachineReach: Sendable {
    /// The way to a machine for one run.
    ///
    /// - Parameter nodes: Those of a cluster that are avoided. It is told which node the run gets.
    /// - Throws: ``PlaceUnavailable`` if this pipectl can't start its agent there.
    func link(to machine: Machine, for order: PlaceOrder, _ nodes: TriedNodes) async throws -> any AgentLink

    /// Ends what a run has left on a machine, whoever started it.
    func end(_ trace: PlaceTrace) async
}

extension MachineReach {
    package func end(_ trace: PlaceTrace) async {}
}

/// Reaches machines by ssh and through Slurm.
package struct ListedMachines: MachineReach {
    private let list: MachineList
    /// The folder for ssh's shared connections.
    private let sockets: String
    /// The `stepinit` program; the agent lies beside it.
    private let stepInit: String
    /// Names this pipectl at Slurm.
    private let owner: String
    private let environment: [String: String]

    package init(
        _ folder: StateFolder, stepInit: String, environment: [String: String] = ProcessInfo.processInfo.environment
    ) {
        list = MachineList(folder)
        sockets = folder.path + "/ssh"
        self.stepInit = stepInit
        owner = String(FileDigest.of(parts: [ProcessInfo.processInfo.hostName, folder.path]).prefix(8))
        self.environment = environment
    }

    package func link(
        to machine: Machine, for order: PlaceOrder, _ nodes: TriedNodes
    ) async throws -> any AgentLink {
        let programs = try await programs(for: machine)
        switch machine.address {
        case .here: throw PlaceUnavailable(reason: "the daemon's own machine needs no agent")
        case .ssh(let address):
            return SSHLink(
                address, SSHSettings(knownHosts: list.knownHosts, sockets: sockets, environment: environment), programs)
        case .slurm(let partition):
            return SlurmLink(request(order, partition, nodes.failed), slurm(), programs, given: nodes.take)
        }
    }

    package func end(_ trace: PlaceTrace) async {
        // Only Slurm's agents are lasting.
        await SlurmLink.end(trace.agent, slurm())
    }

    /// Cancels what an earlier daemon has left at Slurm.
    ///
    /// - Parameter traces: Those that runs will take over.
    /// - Returns: The names of the allocations.
    package func cancelLeftovers(except traces: [PlaceTrace] = []) async throws -> [String] {
        guard try list.machines().contains(where: \.isCluster) else { return [] }
        return try await slurm(limit: .seconds(10)).cancelLeftovers(
            of: owner, except: Set(traces.compactMap { SlurmLink.name(in: $0.agent) }))
    }

    /// Tells the placement what clusters say of themselves.
    package func watch(for placement: Placement) -> ClusterWatch {
        ClusterWatch(list: list, slurm: slurm(), placement: placement)
    }

    private func request(_ order: PlaceOrder, _ partition: String?, _ avoided: [String]) -> SlurmRequest {
        let (run, needs) = (order.run.run, order.needs)
        let limit = order.run.plan.limits.wallTime.map { min(Duration.seconds($0 + 3_600), .seconds(86_400)) }
        return SlurmRequest(
            // A run that lost its machine has another allocation, with another name, and so has each of its steps elsewhere.
            run: run.id, attempt: order.part * 1_000 + run.attempt * 10 + order.wait.losses, owner: owner,
            // All nodes of the machine have its system and processor; what Slurm calls a feature is a label here.
            labels: needs.traits.filter { !$0.isMeasured }.map(\.name), cpus: needs.cpus ?? 1,
            memory: needs.memory.map { max($0 >> 20, 1) }, limit: limit ?? .seconds(86_400), partition: partition,
            avoiding: avoided)
    }

    private func slurm(limit: Duration = .seconds(30)) -> SlurmCommands {
        SlurmCommands(environment: SlurmCommands.environment(of: environment), limit: limit)
    }

    private func programs(for machine: Machine) async throws -> [AgentPrograms] {
        let agent = URL(fileURLWithPath: stepInit).deletingLastPathComponent().appendingPathComponent("pipectl-agent")
        do {
            return try await AgentPrograms.own(agent: agent.path, stepInit: stepInit, shared: machine.shared)
        } catch let error
            where !(error is CancellationError)
        {
            throw PlaceUnavailable(
                reason: "pipectl-agent, which runs steps on other machines, can't be read at \(agent.path) (\(error)). "
                    + "Install pipectl anew.")
        }
    }
}
