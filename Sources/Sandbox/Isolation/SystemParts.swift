import Pipeline
import Synchronization

/// The words that show the machine in a sandbox, as they were found a moment ago.
struct SystemPart: Sendable {
    var words: [String]
    /// Folders that exist in the sandbox after them.
    var made: Set<String>
}

/// Keeps them for some seconds, as ``SettingsCopy`` keeps its copy: two dozen paths are looked up for each.
final class SystemParts: Sendable {
    /// All that they depend on but the machine.
    struct Key: Hashable {
        var network: NetworkAccess
        var sharesSettings: Bool
        /// Whether it is the sandbox of a run, which says who its steps are.
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
            // Copies that were renewed leave keys that nobody asks for again.
            if known.count > 8 { known = [:] }
            known[key] = (part, .now)
        }
        return part
    }
}
