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
/// bubblewrap reads the list of all mounts again for each one that it makes, and in the end leaves all of them behind.
/// What no sandbox shows only costs it time; here it never sees it. What a sandbox shows is not changed: whatever is
/// mounted on the way to it or below it is there, too, and when this process's own namespace gains or loses a mount,
/// another one is made, which takes half a millisecond at most.
///
/// It takes root, because a process with threads can't enter a user namespace.
package final class LeanNamespace: Sendable {
    #if os(Linux)
        private struct Work: Sendable {
            var request: SpawnRequest
            var sources: [ShownPath]
            var answer: Answer
        }

        /// What comes of a request.
        private final class Answer: Sendable {
            enum State: Sendable {
                case wanted
                case given(Result<pid_t, Errno>)
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
        func start(_ request: SpawnRequest, showing sources: [String]) -> Result<pid_t, Errno>? {
            guard !desk.state.withLock({ $0.isGivenUp }) else { return nil }
            // Here, where everything is mounted. What is not there shows nothing.
            let work = Work(request: request, sources: sources.compactMap(ShownPath.init), answer: Answer())
            let hasThread = desk.state.withLock { state in
                if !state.hasThread {
                    state.hasThread = startThread { [desk, folder] in LeanNamespace.serve(desk, folder) } == 0
                }
                if state.hasThread { state.waiting.append(work) }
                return state.hasThread
            }
            guard hasThread else { return nil }
            desk.count.signal()
            let isLate = work.answer.isThere.wait(timeout: .now() + LeanNamespace.patience) == .timedOut
            let given = work.answer.state.withLock { state -> Result<pid_t, Errno>? in
                if case .given(let begun) = state { return begun }
                state = .abandoned
                return nil
            }
            if isLate, given == nil { desk.state.withLock { $0.isGivenUp = true } }
            return given
        }

        private static func serve(_ desk: Desk, _ folder: String) {
            var made: LeanMounts?
            while let work = desk.next() {
                do {
                    let mounts = try made ?? LeanMounts(at: folder)
                    made = mounts
                    if try mounts.has(work.sources) {
                        // Whoever gives up waits for the lock, and then finds it started.
                        work.answer.state.withLock { state in
                            if case .wanted = state { state = .given(work.request.start()) }
                        }
                    }
                } catch {
                    desk.state.withLock { $0.isGivenUp = true }
                }
                work.answer.isThere.signal()
            }
        }
    #else
        /// Other systems have no mounts that could be in the way.
        package init(at folder: String) {}
    #endif
}
