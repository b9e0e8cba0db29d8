package import Control
package import MachinePool
import Pipeline

extension MachineUse {
    /// A machine whose runs are not known.
    package init(_ machine: Machine, reason: String?) {
        self.init(
            name: machine.name, address: machine.address.description, offers: machine.traits.map(\.name),
            cpus: machine.cpus, memory: machine.memory, slots: machine.slots, reason: reason)
    }

    /// The machines of a list, where no daemon says what they do.
    package static func of(_ machines: [Machine]) -> [MachineUse] {
        let pool = MachinePool(machines)
        return machines.map { MachineUse($0, reason: pool.reason(against: $0.name)) }
    }
}
