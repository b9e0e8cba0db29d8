/// The parts of the machine that a sandbox shows, read-only: programs and libraries of the system, and those of its
/// settings that tools need. None of them holds a secret; homes, state, logs and mail are not listed.
package enum SystemFolders {
    /// Folders, or links to such, in the root.
    package static let roots = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"]

    static let settings = [
        "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/nsswitch.conf",
        "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/localtime", "/etc/timezone", "/etc/protocols",
        "/etc/services", "/etc/mime.types", "/etc/os-release", "/etc/debian_version", "/etc/lsb-release",
        "/etc/magic", "/etc/terminfo", "/etc/fonts", "/etc/perl", "/etc/python3", "/etc/java", "/etc/inputrc",
        "/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/ca-certificates", "/etc/pki/tls/certs",
        "/etc/pki/ca-trust", "/etc/crypto-policies",
    ]

    /// The number of processors: some runtimes read it only here.
    static let devices = ["/sys/devices/system/cpu"]

    /// For steps that may use the network.
    static let network = ["/etc/resolv.conf"]
}
