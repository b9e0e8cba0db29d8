import Foundation
import MachinePool
package import Pipeline

/// The machine of the daemon, as far as steps can ask for it.
package enum ThisMachine {
    /// Its system and its processor.
    package static var traits: [MachineTrait] {
        #if os(macOS)
            let system = MachineTrait.macOS
        #else
            let system = MachineTrait.linux
        #endif
        #if arch(arm64)
            return [system, .arch(.arm64)]
        #else
            return [system, .arch(.x64)]
        #endif
    }

    /// Makes sure that the machine is what the steps of a plan need.
    ///
    /// - Throws: ``PlaceUnavailable`` if it is not.
    package static func check(_ needs: MachineNeeds) throws {
        let process = ProcessInfo.processInfo
        let missing = needs.missing(
            traits: traits, cpus: process.activeProcessorCount, memory: Int(clamping: process.physicalMemory))
        guard !missing.isEmpty else { return }
        throw PlaceUnavailable(
            reason: "its steps need \(needs.words.joined(separator: ", ")), but of this machine "
                + "\(missing.joined(separator: " and ")). Steps run on the daemon's own machine: change what they ask "
                + "for by .on, .cpus or .memory, or run the workflow on a machine that has it.")
    }
}
