import Workspaces
import Client
import Dispatch
import Watching

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Child processes of the daemon, for libgit2 calls that need a deadline: a process can be killed, a call can't.
enum DaemonChild {
    /// Runs `fetch-mirror MIRROR URL` or `check-out REQUEST`; nil for other arguments.
    static func run(_ arguments: [String]) -> Int32? {
        switch (arguments.count, arguments.dropFirst().first) {
        case (4, Mirror.command): work { try Mirror.fetch(into: arguments[2], from: arguments[3]) }
        case (3, CheckoutProcess.command): work { try CheckoutProcess.perform(arguments[2]) }
        default: nil
        }
    }

    /// Ends together with its parent: a call that waits for a silent host, or writes much, would outlive a killed
    /// daemon.
    private static func work(_ body: () throws -> Void) -> Int32 {
        let parent = getppid()
        let watch = DispatchSource.makeTimerSource()
        watch.schedule(deadline: .now(), repeating: .milliseconds(200))
        watch.setEventHandler { if getppid() != parent { _exit(1) } }
        watch.resume()
        defer { watch.cancel() }
        do {
            try body()
            return 0
        } catch {
            Terminal.say("\(error)")
            return CheckoutProcess.exitCode(for: error)
        }
    }
}
