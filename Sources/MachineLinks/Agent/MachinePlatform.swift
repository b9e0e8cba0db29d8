#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What programs a machine can run: its system and its processor.
package struct MachinePlatform: Hashable, Sendable, CustomStringConvertible {
    /// As `uname -s` prints it: "Linux", "Darwin".
    package let system: String
    /// "x86_64" or "arm64"; other processors as `uname -m` prints them.
    package let architecture: String

    /// - Parameters:
    ///   - system: What `uname -s` prints.
    ///   - machine: What `uname -m` prints, which differs between systems for the same processor.
    package init(system: String, machine: String) {
        self.system = system
        architecture =
            switch machine {
            case "aarch64": "arm64"
            case "amd64": "x86_64"
            default: machine
            }
    }

    /// The platform of this machine; nil if the system does not tell.
    package static var own: MachinePlatform? {
        var names = utsname()
        guard uname(&names) == 0 else { return nil }
        func text(_ field: some Any) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return MachinePlatform(system: text(names.sysname), machine: text(names.machine))
    }

    package var description: String { "\(system == "Darwin" ? "macOS" : system) on \(architecture)" }
}
