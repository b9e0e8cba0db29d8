import Foundation
package import MachineLinks
package import MachinePool
import MachineProtocol
import Machines
package import Pipeline
import StateFiles

/// Finds out what a machine offers that is reached by ssh, once a person has accepted its key.
package struct NewMachine: Sendable {
    package let list: MachineList
    package let address: SSHAddress
    package let environment: [String: String]

    package init(_ list: MachineList, _ address: SSHAddress, environment: [String: String]) {
        (self.list, self.address, self.environment) = (list, address, environment)
    }

    /// The keys that the machine shows now. Whoever adds it compares a fingerprint with the machine's own.
    package func keys() async throws -> [HostKey] { try await HostKeys.shown(by: address, environment: environment) }

    /// The key with this fingerprint; without one, the key that a person is asked about.
    package static func key(of keys: [HostKey], _ fingerprint: String?) throws(MachineListError) -> HostKey {
        let key: HostKey?
        if let fingerprint {
            key = keys.first { $0.fingerprint == fingerprint }
        } else {
            // Newer ssh servers all have a key of this kind.
            key = keys.first { $0.kind == "ssh-ed25519" } ?? keys.first
        }
        guard let key else {
            let shown = keys.map(\.fingerprint).joined(separator: ", ")
            throw MachineListError(
                .unusable, "The machine shows other keys (\(shown)), so it may not be the one that you mean.")
        }
        return key
    }

    /// Removes a machine, and its key unless another one has the same address.
    package static func forget(_ name: String, in list: MachineList) throws {
        let (machine, isAddressUsed) = try list.remove(name)
        if case .ssh(let address) = machine.address, !isAddressUsed {
            try KnownHosts(list.knownHosts).remove(address)
        }
    }

    /// Pins a key, starts the agent on the machine, and asks it what the machine offers.
    ///
    /// If that fails, the keys are as they were before.
    ///
    /// - Parameter sockets: A folder for ssh's shared connections; made if it is missing.
    package func look(
        accepting key: HostKey, agent: String, stepInit: String, sockets: String
    ) async throws -> (traits: [MachineTrait], cpus: Int, memory: Int) {
        let known = KnownHosts(list.knownHosts)
        let before = try known.keys(of: address)
        try known.pin([key], for: address)
        do {
            let programs = try await AgentPrograms.own(agent: agent, stepInit: stepInit)
            let link = SSHLink(
                address,
                SSHSettings(knownHosts: list.knownHosts, sockets: sockets, environment: environment),
                programs)
            let client = try await MachineClient.connect(
                link, machine: address.description, lifetime: .seconds(120))
            let greeting = client.greeting
            await client.end()
            await link.close()
            return (
                [MachineTrait(name: greeting.platform), MachineTrait(name: greeting.architecture)], greeting.cores,
                greeting.memory
            )
        } catch {
            try known.pin(before, for: address)
            throw error
        }
    }
}
