#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The user that steps run as when the daemon runs as root.
public struct StepUser: Sendable, Hashable {
    public var user: UInt32
    public var group: UInt32

    public init(user: UInt32, group: UInt32) {
        self.user = user
        self.group = group
    }

    /// The user of this process.
    package static let daemon = StepUser(user: geteuid(), group: getegid())
}
