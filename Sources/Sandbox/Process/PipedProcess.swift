import Concurrency
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A trusted program that serves this process over one socket, which is its standard input and output: a client that
/// reaches another machine, or an agent on this one.
///
/// It leads a process group of its own, so that signals of our terminal do not reach it. When this process dies, its
/// socket closes, and it ends by itself.
package final class PipedProcess: Sendable {
    /// The process id.
    package let id: Int32
    private let complaint = Complaint()
    private let ending = Mutex<Ending?>(nil)

    /// How it ended.
    package struct Ending: Sendable, Equatable {
        /// Nil if a signal ended it.
        package var exitCode: Int32?
        /// The signal that ended it.
        package var signal: Int32?
        /// Whether it had ended before anybody asked it to.
        package var isOwn: Bool
        /// The last bytes that it printed to standard error.
        package var complaint: String
    }

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: A path, or a name that is looked up in `PATH`, and the arguments.
    ///   - environment: All its variables.
    /// - Returns: The process, and our end of its socket, which the caller closes.
    /// - Throws: `Errno` if it can't be started.
    package static func start(
        _ words: [String], environment: [String: String]
    ) throws -> (process: PipedProcess, socket: Int32) {
        let (ours, theirs) = try socketPair()
        defer { closeFile(theirs) }
        let errors: (reading: Int32, writing: Int32)
        do { errors = try blockingPipe() } catch {
            closeFile(ours)
            throw error
        }
        defer { closeFile(errors.writing) }
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let started = spawn(words, variables: variables) { actions, attributes in
            for (own, given) in [(theirs, 0), (theirs, 1), (errors.writing, 2)] as [(Int32, Int32)] {
                posix_spawn_file_actions_adddup2(&actions, own, given)
            }
            posix_spawnattr_setpgroup(&attributes, 0)
            #if os(Linux)
                posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
            #else
                posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT))
            #endif
        }
        switch started {
        case .success(let id): return (PipedProcess(id: id, errors: errors.reading), ours)
        case .failure(let code):
            closeFile(ours)
            closeFile(errors.reading)
            throw code
        }
    }

    private init(id: Int32, errors: Int32) {
        self.id = id
        complaint.follow(errors)
    }

    private static func blockingPipe() throws -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Errno(rawValue: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Ends the process and its group if they are alive, and waits for the process. It blocks.
    ///
    /// - Parameter grace: How long it may take to end by itself, for example because its socket was closed, before it is
    ///   killed.
    package func end(grace: Duration) -> Ending {
        ending.withLock { known in
            if let known { return known }
            var status: Int32 = 0
            var ended = waitpid(id, &status, WNOHANG)
            let isOwn = ended == id
            let limit = ContinuousClock.now + grace
            let end = ChildEnd(id)
            while ended == 0, ContinuousClock.now < limit {
                end.wait()
                ended = waitpid(id, &status, WNOHANG)
            }
            // Its group may hold children of it. It exists until the process is reaped, or a child is alive.
            _ = kill(-id, SIGKILL)
            if ended == 0 {
                while ended == 0 || ended < 0 && errno == EINTR { ended = waitpid(id, &status, 0) }
            }
            complaint.wait(atMost: .seconds(1))
            let signal = status & 0x7F
            let made = Ending(
                exitCode: signal == 0 ? (status >> 8) & 0xFF : nil, signal: signal == 0 ? nil : signal, isOwn: isOwn,
                complaint: complaint.text)
            known = made
            return made
        }
    }
}

/// The last bytes of an output that somebody else writes.
private final class Complaint: Sendable {
    private static let most = 4_096
    private let state = Mutex((bytes: [UInt8](), isOver: false))

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Reads `file` to its end, on a thread of its own, and closes it.
    func follow(_ file: Int32) {
        let code = startThread { [self] in
            var piece = [UInt8](repeating: 0, count: 4_096)
            while true {
                let count = read(file, &piece, piece.count)
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { break }
                state.withLock { $0.bytes = Array(($0.bytes + piece[..<count]).suffix(Complaint.most)) }
            }
            closeFile(file)
            state.withLock { $0.isOver = true }
        }
        guard code != 0 else { return }
        closeFile(file)
        state.withLock { $0.isOver = true }
    }

    func wait(atMost limit: Duration) {
        let end = ContinuousClock.now + limit
        while !state.withLock({ $0.isOver }), ContinuousClock.now < end { usleep(1_000) }
    }
}
