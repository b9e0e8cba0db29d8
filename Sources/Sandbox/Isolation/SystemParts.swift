import Pipeline
import Synchronization

/// The arguments that show the machine in a sandbox, as they were when they were last looked up.
struct SystemPart: Sendable {
    var words: [String]
    /// Folders that exist in the sandbox after these arguments.
    var made: Set<String>
}

/// Keeps these arguments for some seconds, as ``SettingsCopy`` does with its copy: each lookup checks two dozen paths.
final class SystemParts: Sendable {
    /// Everything that the arguments depend on, except the machine.
    struct Key: Hashable {
        var network: NetworkAccess
        var sharesSettings: Bool
        /// Whether it is a run's sandbox, which has files that name the steps' user.
        var isRun: Bool
        var copy: String?
    }

    private static let age = Duration.seconds(5)

    private let known = Mutex<[Key: (part: SystemPart, at: ContinuousClock.Instant)]>([:])

    func part(_ key: Key, _ make: () -> SystemPart) -> SystemPart {
        let kept = known.withLock { $0[key] }
        if let kept, kept.at + Self.age > .now { return kept.part }
        let part = make()
        known.withLock { known in
            // A new settings copy leaves keys that are never used again.
            if known.count > 8 { known = [:] }
            known[key] = (part, .now)
        }
        return part
    }
}
