import Engine
import Reports
import Results
import StateFiles
import Store
import TerminalText

/// Opens the state folder once the commands that own it have ended.
///
/// A foreground command such as `run` owns the folder for a while, and a daemon that is started meanwhile waits for it.
/// Waiting for another daemon would never end.
struct StateTurn: Sendable {
    /// The name of a daemon in the folder's lock.
    static let daemon = "watch"

    let folder: StateFolder
    /// Tells the user which process owns the folder.
    let say: @Sendable (String) -> Void
    /// The time between two attempts.
    var interval = Duration.milliseconds(200)

    /// - Throws: What `open` throws; `locked` at once if a daemon owns the folder, and after 25 attempts if no owner is
    ///   noted; `CancellationError`.
    func take<Opened: Sendable>(_ open: () async throws -> Opened) async throws -> Opened {
        var announced: StateOwner?
        var unnamed = 0
        while true {
            do { return try await open() } catch let error as StateError where error.code == .locked {
                let owner = StateLock.owner(of: folder)
                unnamed = owner == nil ? unnamed + 1 : 0
                guard owner?.purpose != Self.daemon, unnamed < 25 else { throw error }
                if let owner, owner != announced {
                    announced = owner
                    say(Self.sentence(owner, folder))
                }
            }
            try await Task.sleep(for: interval)
        }
    }

    static func sentence(_ owner: StateOwner, _ folder: StateFolder) -> String {
        "waiting until `pipectl \(TerminalText.name(owner.purpose))` (pid \(owner.pid)) ends, which owns "
            + "\"\(TerminalText.name(folder.path))\"; Ctrl-C stops waiting"
    }
}
