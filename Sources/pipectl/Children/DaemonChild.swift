import Layers
import Workspaces
import Client
import SystemCalls
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

    private static func work(_ body: () throws -> Void) -> Int32 {
        do {
            try endingWithParent(body)
            return 0
        } catch {
            Terminal.say("\(error)")
            return CheckoutProcess.exitCode(for: error)
        }
    }
}
