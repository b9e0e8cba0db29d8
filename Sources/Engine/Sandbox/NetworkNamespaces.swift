import Synchronization
import SystemPackage

#if os(Linux)
    import CLinux
    import Dispatch
    import Glibc
#endif

/// Network namespaces with nothing in them but a loopback, for sandboxes whose steps have no network.
///
/// To make one and to end it takes the kernel about 1.4 ms of processor, a third of a sandbox's whole start. One in which
/// nothing has happened is as good as new: it is used again when its sandbox has ended, and what the kernel counts and
/// lists in it is as it was when it was made. After a single packet, or while a socket of it is open anywhere, it is not.
///
/// It takes root.
package final class NetworkNamespaces: Sendable {
    package init() {}

    #if os(Linux)
        private enum Work: Sendable {
            case make(DispatchSemaphore)
            case takeBack(NetworkNamespace)
        }

        private struct State {
            /// For the thread, which ends when it finds an end in here.
            var waiting: [Work?] = []
            var hasThread = false
            var kept: [NetworkNamespace] = []
        }

        /// Shared with the thread: only a thread that is in a namespace can look around in it.
        private final class Desk: Sendable {
            let state = Mutex(State())
            let count = DispatchSemaphore(value: 0)

            func next() -> Work? {
                count.wait()
                return state.withLock { $0.waiting.removeFirst() }
            }
        }

        private let desk = Desk()
        private static let mostKept = 4
        /// How long one may take to be made.
        private static let patience = DispatchTimeInterval.seconds(5)

        deinit {
            desk.state.withLock { $0.waiting.append(nil) }
            desk.count.signal()
        }

        /// Has the sandbox that is asked for use one of these, if `stepinit` was to make it one. Blocks while one is made.
        ///
        /// - Returns: To be given back when nothing of the sandbox lives; nil if it has none of these.
        func serve(_ request: inout SpawnRequest) -> NetworkNamespace? {
            guard let place = SandboxWords.network(in: request.words), let network = take() else { return nil }
            let number = 1 + max(2, request.descriptors.map(\.given).max() ?? 2)
            request.words.replaceSubrange(place...place, with: ["--network", String(number)])
            request.descriptors.append((own: network.descriptor, given: number))
            return network
        }

        private func take() -> NetworkNamespace? {
            if let one = desk.state.withLock({ $0.kept.popLast() }) { return one }
            let isDone = DispatchSemaphore(value: 0)
            guard geteuid() == 0, ask(.make(isDone)) else { return nil }
            _ = isDone.wait(timeout: .now() + NetworkNamespaces.patience)
            return desk.state.withLock { $0.kept.popLast() }
        }

        /// Takes one back, once it is certain that nothing of its sandbox lives; returns at once.
        func takeBack(_ network: NetworkNamespace) { _ = ask(.takeBack(network)) }

        private func ask(_ work: Work) -> Bool {
            let isTaken = desk.state.withLock { state in
                if !state.hasThread {
                    state.hasThread = startThread { [desk] in NetworkNamespaces.serve(desk) } == 0
                }
                if state.hasThread { state.waiting.append(work) }
                return state.hasThread
            }
            if isTaken { desk.count.signal() }
            return isTaken
        }

        private static func serve(_ desk: Desk) {
            func keep(_ one: NetworkNamespace) {
                desk.state.withLock { if $0.kept.count < mostKept { $0.kept.append(one) } }
            }
            while let work = desk.next() {
                switch work {
                case .make(let isDone):
                    // One that was given back before this was asked for is there by now.
                    let isMissing = desk.state.withLock { $0.kept.isEmpty }
                    if isMissing, let one = try? NetworkNamespace() { keep(one) }
                    isDone.signal()
                case .takeBack(let one):
                    guard desk.state.withLock({ $0.kept.count < mostKept }) else { continue }
                    if (try? one.isAsNew()) == true { keep(one) }
                }
            }
        }
    #endif
}

#if os(Linux)
    /// One of them; it ends with this, and with the last process and socket in it.
    final class NetworkNamespace: Sendable {
        /// For setns(2).
        let descriptor: Int32
        /// What the kernel said of it when it was new.
        private let account: [UInt8]

        /// Makes one, which the thread that calls is in from then on.
        fileprivate init() throws(Errno) {
            guard unshare(clinux_new_network) == 0, clinux_raise_loopback() == 0 else { throw Errno(rawValue: errno) }
            account = try NetworkNamespace.account()
            let file = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw Errno(rawValue: errno) }
            defer { closeFile(file) }
            // Above the numbers that a process may find it by, so that none is overwritten before it is moved.
            descriptor = fcntl(file, F_DUPFD_CLOEXEC, 32)
            guard descriptor >= 0 else { throw Errno(rawValue: errno) }
        }

        deinit { if descriptor >= 0 { closeFile(descriptor) } }

        /// Whether nothing has happened in it; the thread that calls is in it from then on.
        fileprivate func isAsNew() throws(Errno) -> Bool {
            guard setns(descriptor, clinux_new_network) == 0 else { throw Errno(rawValue: errno) }
            guard try NetworkNamespace.hasNoSockets() else { return false }
            return try NetworkNamespace.account() == account
        }

        /// Whether nobody has a socket that belongs to the thread's namespace, open or on its way to somebody. A process
        /// can hand one to another outside before it ends.
        ///
        /// The sockets that wait for stray packets after their end are not counted, but they have sent some.
        private static func hasNoSockets() throws(Errno) -> Bool {
            // The lines below the first are of the whole machine in part.
            let text = try KernelFile.content(of: "/proc/thread-self/net/sockstat")
            return text.starts(with: "sockets: used 0\n".utf8)
        }

        /// What has gone through the thread's namespace, and what is bound in it: packets by interface, by protocol and by
        /// what became of them, and Unix sockets, whose abstract names belong to it (proc_pid_net(5)).
        private static func account() throws(Errno) -> [UInt8] {
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
