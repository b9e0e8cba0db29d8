import Concurrency
import MachineLinks
import MachineList
import MachinePool

/// Asks clusters from time to time whether jobs can start there, and which processor their nodes have.
package struct ClusterWatch: Sendable {
    let list: MachineList
    let slurm: SlurmCommands
    let placement: Placement
    private static let period = Duration.seconds(60)

    /// Asks until its task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await look()
            do { try await Task.sleep(for: Self.period) } catch { return }
        }
    }

    func look() async {
        // The placement says what is wrong with the list.
        guard let machines = try? await offThread({ [list] in try list.machines() }) else { return }
        for machine in machines {
            // Nothing is concluded from silence: whoever asks for an allocation learns whether Slurm is there.
            guard case .slurm(let partition) = machine.address, let nodes = try? await slurm.nodes(in: partition) else {
                continue
            }
            placement.note(outage: SlurmNode.outage(of: nodes), of: machine.name)
            if !machine.isKindKnown, let processor = try? await ClusterProcessor.of(nodes, at: slurm),
                processor.trait != nil
            {
                // Without it the cluster has fewer steps, and the next look asks again.
                try? await offThread { [list] in try list.set(processor, of: machine.name) }
            }
        }
    }
}
