import Synchronization
import SystemPackage

#if os(Linux)
    import CLinux
    import Dispatch
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A thread in a mount namespace of its own, from which sandboxes are started: in it is mounted only what they show.
///
/// A sandbox begins with a copy of all mounts and leaves them behind in the end; bubblewrap also reads their list again for
/// each one that it makes. What no sandbox shows only costs time; here it is never seen. What a sandbox shows is not changed: whatever is
/// mounted on the way to it or below it is there, too, and when this process's own namespace gains or loses a mount,
/// another one is made, which takes half a millisecond at most.
///
/// A sandbox without a network gets its network namespace here, too (``NetworkNamespaces``), and not one of its own.
///
/// It takes root, because a process with threads can't enter a user namespace.
package final class LeanNamespace: Sendable {
    #if os(Linux)
        /// A process that was started here.
        struct Begun: Sendable {
            var pid: pid_t
            /// Where it has no network; to be given back when nothing of it lives.
            var network: NetworkNamespace?
        }

        private enum Work: Sendable {
            case start(SpawnRequest, [ShownPath], Answer)
            case takeBack(NetworkNamespace)
        }

        /// What comes of a request.
        private final class Answer: Sendable {
            enum State: Sendable {
                case wanted
                case given(Result<Begun, Errno>)
                /// Nobody waits for it any more: nothing may come of it.
                case abandoned
            }

            let state = Mutex(State.wanted)
            let isThere = DispatchSemaphore(value: 0)
        }

        /// How long the mounts may take to be made. A network disk that does not answer must not hold up other runs.
        private static let patience = DispatchTimeInterval.seconds(5)

        private struct State {
            /// For the thread, which ends when it finds an end in here.
            var waiting: [Work?] = []
            var hasThread = false
            /// Because the rights are missing, or the machine is like none that this was tried on.
            var isGivenUp = geteuid() != 0
        }

        /// Shared with the thread.
        private final class Desk: Sendable {
            let state = Mutex(State())
            let count = DispatchSemaphore(value: 0)

            func next() -> Work? {
                count.wait()
                return state.withLock { $0.waiting.removeFirst() }
            }
        }

        private let desk = Desk()
        private let folder: String

        /// - Parameter folder: Made if it is not there; empty, and stays so.
        package init(at folder: String) { self.folder = folder }

        deinit {
            desk.state.withLock { $0.waiting.append(nil) }
            desk.count.signal()
        }

        /// Starts a sandbox; blocks until it has begun.
        ///
        /// - Parameter sources: What it shows of this machine, as absolute paths.
        /// - Returns: Nil when it can't be started from here now, which says nothing about starting it plainly.
        func start(_ request: SpawnRequest, showing sources: [String]) -> Result<Begun, Errno>? {
            guard !desk.state.withLock({ $0.isGivenUp }) else { return nil }
            // Here, where everything is mounted. What is not there shows nothing.
            let answer = Answer()
            let work = Work.start(request, sources.compactMap(ShownPath.init), answer)
            let hasThread = desk.state.withLock { state in
                if !state.hasThread {
                    state.hasThread = startThread { [desk, folder] in LeanNamespace.serve(desk, folder) } == 0
                }
                if state.hasThread { state.waiting.append(work) }
                return state.hasThread
            }
            guard hasThread else { return nil }
            desk.count.signal()
            let isLate = answer.isThere.wait(timeout: .now() + LeanNamespace.patience) == .timedOut
            let given = answer.state.withLock { state -> Result<Begun, Errno>? in
                if case .given(let begun) = state { return begun }
                state = .abandoned
                return nil
            }
            if isLate, given == nil { desk.state.withLock { $0.isGivenUp = true } }
            return given
        }

        /// Takes back the network of a sandbox, once it is certain that nothing of that lives; returns at once.
        func takeBack(_ network: NetworkNamespace) {
            desk.state.withLock { $0.waiting.append(.takeBack(network)) }
            desk.count.signal()
        }

        private static func serve(_ desk: Desk, _ folder: String) {
            var made: LeanMounts?
            let networks = try? NetworkNamespaces()
            while let work = desk.next() {
                switch work {
                case .takeBack(let network): try? networks?.takeBack(network)
                case .start(let request, let sources, let answer):
                    do {
                        let mounts = try made ?? LeanMounts(at: folder)
                        made = mounts
                        if try mounts.has(sources) {
                            // Whoever gives up waits for the lock, and then finds it started.
                            try answer.state.withLock { state in
                                if case .wanted = state { state = .given(try begin(request, networks)) }
                            }
                        }
                    } catch {
                        desk.state.withLock { $0.isGivenUp = true }
                    }
                    answer.isThere.signal()
                }
            }
        }

        private static func begin(
            _ request: SpawnRequest, _ networks: NetworkNamespaces?
        ) throws -> Result<Begun, Errno> {
            var request = request
            var network: NetworkNamespace?
            if let networks {
                let own = request.words.prefix { $0 != "--" }.firstIndex(of: SandboxWords.ownNetwork)
                if let own, let quiet = try? networks.enter() {
                    // Instead of a new one.
                    request.words.remove(at: own)
                    network = quiet
                } else {
                    try networks.leave()
                }
            }
            return request.start().map { Begun(pid: $0, network: network) }
        }
    #else
        /// Other systems have no mounts that could be in the way.
        package init(at folder: String) {}
    #endif
}
