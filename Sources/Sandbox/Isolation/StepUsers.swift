import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Gives each run a user of its own when the daemon runs as root; without root, all steps run as the daemon's user.
///
/// The numbers are in the range that systemd reserves for dynamic users (61184 to 65519: systemd.exec(5),
/// `DynamicUser=`), so no account has them. With a user of its own, each run also has its own limit of processes,
/// because the kernel counts those by user.
public final class StepUsers: Sendable {
    private static let range: ClosedRange<UInt32> = 61_184...65_519

    private let taken: Mutex<(inUse: Set<UInt32>, next: UInt32)>

    /// - Parameter seed: Makes two daemons on one machine start at different numbers.
    public init(seed: String = "") {
        let offset = seed.utf8.reduce(UInt32(5_381)) { $0 &* 33 &+ UInt32($1) } % UInt32(StepUsers.range.count)
        taken = Mutex((inUse: [], next: StepUsers.range.lowerBound + offset))
    }

    /// Whether steps can run as another user at all.
    public static var isPossible: Bool { geteuid() == 0 }

    /// Returns a user that no other run has; nil if the daemon does not run as root.
    ///
    /// - Throws: ``SandboxProblem`` if all users are taken: no step may run as root instead.
    public func take() throws -> StepUser? {
        guard StepUsers.isPossible else { return nil }
        let found: StepUser? = taken.withLock { state in
            for _ in StepUsers.range {
                let candidate = state.next
                state.next = candidate == StepUsers.range.upperBound ? StepUsers.range.lowerBound : candidate + 1
                if state.inUse.insert(candidate).inserted { return StepUser(user: candidate, group: candidate) }
            }
            return nil
        }
        guard let found else {
            throw SandboxProblem("all \(StepUsers.range.count) users for steps are in use; wait for runs to end")
        }
        return found
    }

    /// Makes the user available to other runs. Call it when no process of the run is alive.
    public func giveBack(_ user: StepUser?) {
        guard let user else { return }
        taken.withLock { _ = $0.inUse.remove(user.user) }
    }
}
