#if os(Linux)
    import CLinux
    import Glibc
    import SystemPackage

    /// Network namespaces with nothing in them but a loopback, for sandboxes whose steps have no network; only for the
    /// thread that made it.
    ///
    /// To make one and to end it takes the kernel about 1.4 ms of processor, a third of a sandbox's whole start. One in
    /// which nothing has happened is as good as new: it is used again when its sandbox has ended, and what the kernel
    /// counts and lists in it is as it was when it was made. After a single packet, or while a socket of it is open
    /// anywhere, it is not.
    final class NetworkNamespaces {
        private let home: Int32
        private var kept: [NetworkNamespace] = []
        private static let mostKept = 4

        init() throws(Errno) {
            home = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)
            guard home >= 0 else { throw Errno(rawValue: errno) }
        }

        deinit { closeFile(home) }

        /// Takes this thread into one that nothing is in; what it starts from now on is there, too.
        func enter() throws(Errno) -> NetworkNamespace {
            if let one = kept.popLast() {
                try enter(one.descriptor)
                return one
            }
            guard unshare(clinux_new_network) == 0 else { throw Errno(rawValue: errno) }
            guard clinux_raise_loopback() == 0 else { throw Errno(rawValue: errno) }
            return try NetworkNamespace()
        }

        /// Takes this thread back to where the process is.
        func leave() throws(Errno) { try enter(home) }

        /// Keeps one whose sandbox has ended if nothing has happened in it.
        func takeBack(_ one: NetworkNamespace) throws(Errno) {
            guard kept.count < NetworkNamespaces.mostKept else { return }
            try enter(one.descriptor)
            if try NetworkNamespace.hasNoSockets(), try NetworkNamespace.account() == one.account { kept.append(one) }
        }

        private func enter(_ descriptor: Int32) throws(Errno) {
            guard setns(descriptor, clinux_new_network) == 0 else { throw Errno(rawValue: errno) }
        }
    }

    /// One of them; it ends with this, and with the last process and socket in it.
    final class NetworkNamespace: Sendable {
        fileprivate let descriptor: Int32
        /// What the kernel said of it when it was new.
        fileprivate let account: [UInt8]

        /// That of the thread that calls, which is new.
        fileprivate init() throws(Errno) {
            account = try NetworkNamespace.account()
            descriptor = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        }

        deinit { closeFile(descriptor) }

        /// Whether nobody has a socket that belongs to the thread's namespace, open or on its way to somebody. A process
        /// can hand one to another outside before it ends.
        ///
        /// The sockets that wait for stray packets after their end are not counted, but they have sent some.
        fileprivate static func hasNoSockets() throws(Errno) -> Bool {
            // The lines below the first are of the whole machine in part.
            let text = try KernelFile.content(of: "/proc/thread-self/net/sockstat")
            return text.starts(with: "sockets: used 0\n".utf8)
        }

        /// What has gone through the thread's namespace, and what is bound in it: packets by interface, by protocol and by
        /// what became of them, and Unix sockets, whose abstract names belong to it (proc_pid_net(5)).
        fileprivate static func account() throws(Errno) -> [UInt8] {
            var text: [UInt8] = []
            for name in ["dev", "unix", "snmp", "snmp6", "ip6_flowlabel"] {
                do {
                    text += try KernelFile.content(of: "/proc/thread-self/net/\(name)")
                } catch {
                    // A kernel without IPv6 lacks some of them.
                    guard error == .noSuchFileOrDirectory else { throw error }
                }
            }
            return text
        }
    }
#endif
