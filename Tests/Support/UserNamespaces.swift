import TestBasics

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Namespaces that a user without rights makes.
package enum UserNamespaces {
    /// Whether this machine's kernel and settings allow them.
    package static let arePossible: Bool = {
        let words = geteuid() == 0 ? ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] : []
        return succeeds(words + ["unshare", "-U", "true"])
    }()
}
