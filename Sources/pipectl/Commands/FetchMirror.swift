import BuildBox
import Dispatch
import Git

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The child process that fetches a mirror, so that a deadline can end it.
enum FetchMirror {
    /// Answers `fetch-mirror MIRROR URL`; nil when that is not what was asked.
    static func run(_ arguments: [String]) -> Int32? {
        guard arguments.count == 4, arguments[1] == Mirror.command else { return nil }
        // A fetch from a host that stays silent would outlive a killed daemon for ever: libgit2 has no time-out.
        let parent = getppid()
        let watch = DispatchSource.makeTimerSource()
        watch.schedule(deadline: .now(), repeating: .milliseconds(200))
        watch.setEventHandler { if getppid() != parent { _exit(1) } }
        watch.resume()
        defer { watch.cancel() }
        do {
            try Mirror.fetch(into: arguments[2], from: arguments[3])
            return 0
        } catch {
            Terminal.say("\(error)")
            return 1
        }
    }
}
