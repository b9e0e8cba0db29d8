import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Hands each run a user of its own when the box runs as root; without root, everybody is the box's own user.
///
/// The numbers are of the range that systemd keeps for users that exist only while they are needed (61184 to 65519:
/// systemd.exec(5), `DynamicUser=`), so no account has them. A user of its own for each run also makes the kernel's
/// limit of processes, which it counts by user, the run's own.
public final class StepUsers: Sendable {
    private static let range: ClosedRange<UInt32> = 61_184...65_519

    private let taken: Mutex<(inUse: Set<UInt32>, next: UInt32)>

    /// - Parameter seed: Makes two boxes on one machine start at different numbers.
    public init(seed: String = "") {
        let offset = seed.utf8.reduce(UInt32(5_381)) { $0 &* 33 &+ UInt32($1) } % UInt32(StepUsers.range.count)
        taken = Mutex((inUse: [], next: StepUsers.range.lowerBound + offset))
    }

    /// Whether steps can become another user at all.
    public static var isPossible: Bool { geteuid() == 0 }

    /// A user that no other run has; nil where the box is not root.
    ///
    /// - Throws: ``SandboxProblem`` when all are taken: nothing may be run as root instead.
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

    public func giveBack(_ user: StepUser?) {
        guard let user else { return }
        taken.withLock { _ = $0.inUse.remove(user.user) }
    }
}
