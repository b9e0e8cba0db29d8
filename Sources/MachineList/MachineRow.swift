package import MachinePool
import Pipeline

/// A machine as `pipectl machines` shows it, and as its JSON.
package struct MachineRow: Encodable, Sendable {
    package let name: String
    package let address: String
    package let offers: [String]
    package let cpus: Int
    /// Bytes.
    package let memory: Int
    package let slots: Int
    /// Why it is not used; missing if it may be.
    package let reason: String?

    package init(_ machine: Machine, reason: String?) {
        name = machine.name
        address = machine.address.description
        offers = machine.traits.map(\.name)
        (cpus, memory, slots) = (machine.cpus, machine.memory, machine.slots)
        self.reason = reason
    }

    package static let titles = ["NAME", "ADDRESS", "OFFERS", "CPUS", "MEMORY", "SLOTS", "STATE"]

    /// The texts below ``titles``.
    package var cells: [String] {
        [
            name, address, offers.joined(separator: " "), "\(cpus)", ByteCount(bytes: memory).description, "\(slots)",
            reason.map { "not used: \($0)" } ?? "ready",
        ]
    }

    /// The rows of these machines.
    package static func rows(of machines: [Machine]) -> [MachineRow] {
        let pool = MachinePool(machines)
        return machines.map { MachineRow($0, reason: pool.reason(against: $0.name)) }
    }
}
