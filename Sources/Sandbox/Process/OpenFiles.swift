#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif
import Synchronization

/// The limit of open descriptors of this process.
public enum OpenFiles {
    /// Maximum number of descriptors of a running step: control socket and pipe, both with the other end while it
    /// starts, log, tail and times.
    static let perStep = 8
    /// Descriptors for everything else in the process: the index, repositories, sockets, pages.
    static let reserve = 128

    private static let raisedFrom = Mutex<UInt32?>(nil)

    /// Raises the soft limit to the hard limit and returns it. Call it once, at the start of `main`.
    ///
    /// Steps get the earlier limit, since some programs close every possible descriptor.
    @discardableResult public static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 256 }
        let before = limit.rlim_cur
        #if os(Linux)
            limit.rlim_cur = limit.rlim_max
        #else
            limit.rlim_cur = min(limit.rlim_max, rlim_t(OPEN_MAX))
        #endif
        guard setrlimit(files, &limit) == 0 else { return Int(clamping: before) }
        raisedFrom.withLock { $0 = $0 ?? UInt32(clamping: before) }
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of steps that the limit of descriptors allows at the same time.
    package static var stepsThatFit: Int {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 16 }
        let all = Int(clamping: limit.rlim_cur)
        return max((all - min(reserve, all / 2)) / perStep, 1)
    }

    /// The number of connections of webhooks and pages that the limit of descriptors allows at the same time: three of
    /// four descriptors, since steps need few of them.
    package static var connectionsThatFit: Int {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 64 }
        return min(Int(clamping: limit.rlim_cur) / 4 * 3, 16_384)
    }

    /// The soft limit for steps.
    static var inherited: UInt32 { raisedFrom.withLock { $0 } ?? .max }

    #if os(Linux)
        private static let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let files = RLIMIT_NOFILE
    #endif
}
