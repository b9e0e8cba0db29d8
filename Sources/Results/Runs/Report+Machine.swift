import Foundation

extension Report.Machine {
    /// The version of pipectl.
    public static let version = "0.1.0"

    /// This machine.
    package static var current: Report.Machine {
        #if os(macOS)
            let system = "macOS"
        #else
            let system = "Linux"
        #endif
        #if arch(arm64)
            let processor = "arm64"
        #else
            let processor = "x86_64"
        #endif
        return Report.Machine(
            host: ProcessInfo.processInfo.hostName, system: "\(system) \(processor)", pipectlVersion: version)
    }
}
