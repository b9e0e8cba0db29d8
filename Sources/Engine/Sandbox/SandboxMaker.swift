import Synchronization
import SystemPackage

#if os(Linux)
    import Glibc
#endif

/// One `stepinit` that makes sandboxes as it is asked, where each would else be a program that is loaded, and another
/// process that waits for it: more than a millisecond of processor.
///
/// Started with the first sandbox, and again when it has ended or new processes are limited in another way by then.
package final class SandboxMaker: Sendable {
    /// How long it may take to answer, which it does before the sandbox is made.
    private let patience: Duration

    /// - Parameter patience: How long it may take to answer.
    package init(patience: Duration = .seconds(10)) { self.patience = patience }

    #if os(Linux)
        /// Sandboxes inherit more of this process than its limits, such as the processors that it may use, and that changes
        /// from outside: a new one is started after so many.
        private static let mostMade = 100

        private struct State {
            var socket: Int32 = -1
            var pid: pid_t = 0
            var program = ""
            var limits = InheritedLimits.current
            var made = 0
        }

        private let state = Mutex(State())

        deinit { state.withLock { SandboxMaker.end(&$0) } }

        /// Starts the first process of a sandbox, as a child of this process. Blocks for a millisecond or so.
        ///
        /// - Parameter request: Its words begin with the ones that make `stepinit` enclose itself, its descriptors are found
        ///   by 0, and 3 and on.
        /// - Returns: Nil when it must be started by itself.
        /// - Throws: Why it was not started; `.resourceTemporarilyUnavailable` also where that is not known: what it was to
        ///   have as its input must not be given to another.
        func start(_ request: SpawnRequest) throws(Errno) -> pid_t? {
            guard let words = SandboxWords.enclosed(in: request.words) else { return nil }
            let given = request.descriptors.map(\.given)
            guard given.first == 0, given.dropFirst().elementsEqual(3..<(2 + Int32(given.count))) else { return nil }
            var texts: [UInt8] = []
            for word in words {
                texts += word.utf8
                texts.append(0)
            }
            // `struct enclosure` of stepinit.
            let message = [UInt32(texts.count), UInt32(words.count)].withUnsafeBytes { Array($0) } + texts
            let files = request.descriptors.map(\.own)
            let answer: Result<pid_t, Errno>? = state.withLock { state in
                for _ in 0..<2 {
                    guard begin(&state, program: request.words[0]) else { return nil }
                    if DescriptorMessage.send(message, files: files, over: state.socket) == 0 {
                        return SandboxMaker.answer(&state)
                    }
                    SandboxMaker.end(&state)
                }
                return nil
            }
            return try answer?.get()
        }

        /// Whether there is one that can be asked.
        private func begin(_ state: inout State, program: String) -> Bool {
            let limits = InheritedLimits.current
            if state.socket >= 0, state.program == program, state.limits == limits, state.made < SandboxMaker.mostMade {
                return true
            }
            SandboxMaker.end(&state)
            guard let (ours, theirs) = try? socketPair() else { return false }
            defer { closeFile(theirs) }
            let request = SpawnRequest([program, SandboxWords.enclosures], descriptors: [(own: theirs, given: 0)])
            guard case .success(let pid) = request.start() else {
                closeFile(ours)
                return false
            }
            let (seconds, attoseconds) = patience.components
            var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
            for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
                setsockopt(ours, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
            }
            state = State(socket: ours, pid: pid, program: program, limits: limits)
            return true
        }

        private static func answer(_ state: inout State) -> Result<pid_t, Errno> {
            var number: Int32 = 0
            var count = 0
            repeat {
                count = recv(state.socket, &number, MemoryLayout<Int32>.size, Int32(MSG_WAITALL))
            } while count < 0 && errno == EINTR
            guard count == MemoryLayout<Int32>.size else {
                end(&state)
                return .failure(.resourceTemporarilyUnavailable)
            }
            state.made += 1
            return number > 0 ? .success(number) : .failure(Errno(rawValue: -number))
        }

        private static func end(_ state: inout State) {
            guard state.socket >= 0 else { return }
            closeFile(state.socket)
            kill(state.pid, SIGKILL)
            ChildEnd.bury(state.pid)
            state = State()
        }
    #endif
}
