import Foundation
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

    /// The machine as one of the pool.
    ///
    /// - Parameter slots: How many runs it may have at a time.
    package static func machine(slots: Int) -> Machine {
        let process = ProcessInfo.processInfo
        return Machine(
            name: MachineAddress.here.usualName, address: .here, traits: traits, cpus: process.activeProcessorCount,
            memory: Int(clamping: process.physicalMemory), slots: slots)
    }
}
