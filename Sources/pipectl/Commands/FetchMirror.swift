import BuildBox
import Git

/// The child process that fetches a mirror, so that a deadline can end it.
enum FetchMirror {
    /// Answers `fetch-mirror MIRROR URL`; nil when that is not what was asked.
    static func run(_ arguments: [String]) -> Int32? {
        guard arguments.count == 4, arguments[1] == Mirror.command else { return nil }
        do {
            try Mirror.fetch(into: arguments[2], from: arguments[3])
            return 0
        } catch {
            Terminal.say("\(error)")
            return 1
        }
    }
}
