package import MachinePool
package import Pipeline

/// Why a run can't have a place: there is no sandbox for it, or the machine is not what its steps need.
package struct PlaceUnavailable: Error, Sendable, CustomStringConvertible {
    /// The reason and what to do about it, as a sentence.
    package let reason: String
    package var description: String { reason }

    package init(reason: String) { self.reason = reason }
}

extension ThisMachine {
    /// Makes sure that the machine is what the steps of a plan need.
    ///
    /// - Throws: ``PlaceUnavailable`` if it is not.
    package static func check(_ needs: MachineNeeds) throws {
        let missing = machine(slots: 1).missing(needs)
        guard !missing.isEmpty else { return }
        throw PlaceUnavailable(
            reason: "its steps need \(needs.words.joined(separator: ", ")), but of this machine "
                + "\(missing.joined(separator: " and ")). `pipectl machines add ssh://user@host` adds a machine that "
                + "has it; or change what they ask for by .on, .cpus or .memory.")
    }
}
