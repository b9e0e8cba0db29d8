import TestBasics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

package enum Overlays {
    /// Whether this machine supports overlays for workspaces; elsewhere they are plain checkouts, which other tests
    /// cover.
    package static let isPossible: Bool = {
        #if os(Linux)
            return succeeds(["unshare", geteuid() == 0 ? "-m" : "-Um", "true"])
        #else
            return false
        #endif
    }()
}
