package import Foundation
import Synchronization
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The `stepinit` process of a run, which starts its steps and ends all their processes.
///
/// It is started with the first step, and again if a step has killed it. The binary layouts written here are declared
/// in `Sources/stepinit/requests.h`.
package final class StepHost: Sendable {
    private struct State {
        var socket: Int32 = -1
        var pid: pid_t = 0
        var nextID: UInt32 = 1
        /// Supervisors that wait for an attempt.
        var idle: [Supervisor] = []
    }

    /// The command that starts it: alone, or as the first process of a sandbox.
    private let command: [String]
    private let state = Mutex(State())

    /// The control group of this process and all its descendants.
    private let group: ControlGroup?

    /// Maximum number of idle supervisors that are retained for later attempts.
    private static let mostIdle = 4

    /// Whether it is the first process of a sandbox.
    private let isEnclosed: Bool

    /// How long all processes may take to end once they are asked to.
    private let patience: Duration

    /// - Parameter isEnclosed: Whether it is the first process of a sandbox, which no step can stop.
    package init(command: [String], group: ControlGroup? = nil, isEnclosed: Bool = false) {
        self.command = command
        self.group = group
        self.isEnclosed = isEnclosed
        patience = isEnclosed ? .seconds(20) : .seconds(2)
    }

    /// Passes an attempt to an idle supervisor, or to a new one.
    ///
    /// - Parameters:
    ///   - launch: `struct launch` and what follows it.
    ///   - files: The output and the control groups' entrances; they stay the caller's to close.
    /// - Returns: The supervisor; give it back, or close its socket.
    /// - Throws: `Errno`, or ``StepHostProblem``; ``StepProcessProblem/lost`` when a new supervisor does not take it.
    func hand(_ launch: [UInt8], files: [Int32]) throws -> Supervisor {
        while let supervisor = takeIdle() {
            if supervisor.take(launch, files) { return supervisor }
            supervisor.close()
        }
        let supervisor = try startSupervisor()
        if supervisor.take(launch, files) { return supervisor }
        supervisor.close()
        throw StepProcessProblem.lost
    }

    /// Takes back a supervisor that has reported that it waits for the next attempt.
    func giveBack(_ supervisor: Supervisor) {
        let isTaken = state.withLock { state in
            // Each supervisor counts towards the run's limit of processes, even when no step runs.
            guard state.pid == supervisor.host, state.idle.count < StepHost.mostIdle else { return false }
            state.idle.append(supervisor)
            return true
        }
        if !isTaken { supervisor.close() }
    }

    private func takeIdle() -> Supervisor? {
        state.withLock { state in
            while let supervisor = state.idle.popLast() {
                // A step that runs as our own user can kill either process, so a readable socket means that its process
                // has ended.
                var files = [state.socket, supervisor.socket].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
                let count = poll(&files, 2, 0)
                if count == 0 { return supervisor }
                supervisor.close()
                if files[0].revents != 0 { end(&state) }
            }
            return nil
        }
    }

    private func startSupervisor() throws -> Supervisor {
        let (ours, theirs) = try socketPair()
        defer { closeFile(theirs) }
        // A supervisor that hangs must not block the attempt: the send fails after half a minute.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(ours, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        do {
            return try state.withLock { state in
                let id = state.nextID
                state.nextID &+= 1
                for isRetry in [false, true] {
                    if state.socket < 0 { try start(&state) }
                    let code = StepHost.send(request: 1, id: id, files: [theirs], over: state.socket)
                    if code == 0 { break }
                    // Later attempts get a new process.
                    end(&state)
                    if isRetry { throw Errno(rawValue: code) }
                }
                return Supervisor(id: id, socket: ours, host: state.pid)
            }
        } catch {
            closeFile(ours)
            throw error
        }
    }

    /// Whether it is running already. Starting it may block for as long as the machine's file systems take to answer.
    var isStarted: Bool { state.withLock { $0.socket >= 0 } }

    /// The process id; nil while it is not running.
    package var process: pid_t? { state.withLock { $0.socket >= 0 ? $0.pid : nil } }

    /// Whether processes in its sandbox see this folder of ours at `place`. Ask before a step could change it.
    func sees(_ folder: FilePath, at place: FilePath) -> Bool {
        #if os(Linux)
            let pid = state.withLock { $0.socket >= 0 ? firstChild(of: $0.pid) : nil }
            var (ours, theirs) = (stat(), stat())
            guard let pid, stat(folder.string, &ours) == 0, stat("/proc/\(pid)/root\(place)", &theirs) == 0 else {
                return false
            }
            return (ours.st_dev, ours.st_ino) == (theirs.st_dev, theirs.st_ino)
        #else
            return false
        #endif
    }

    #if os(Linux)
        /// The first child in the kernel's list (proc_tid_children(5)).
        private func firstChild(of pid: pid_t) -> pid_t? {
            let list = (try? KernelFile.content(of: "/proc/\(pid)/task/\(pid)/children")) ?? []
            return pid_t(String(decoding: list.prefix { $0 != 0x20 }, as: UTF8.self))
        }
    #endif

    /// Starts it before the first request.
    func startNow() throws {
        try state.withLock { state in
            if state.socket < 0 { try start(&state) }
        }
    }

    /// Starts it together with a supervisor for the first attempt. If that fails, the attempt starts a supervisor
    /// itself.
    func startWithSupervisor() throws {
        try startNow()
        if let supervisor = try? startSupervisor() { giveBack(supervisor) }
    }

    /// Kills a supervisor that does not answer; stepinit then kills the processes that it supervised.
    func kill(_ id: UInt32) {
        state.withLock { state in
            if state.socket >= 0 { _ = StepHost.send(request: 2, id: id, files: [], over: state.socket) }
        }
    }

    /// Ends stepinit and waits for it. Call it when the run's last attempt has ended.
    ///
    /// - Returns: Whether it is certain that no process of it is alive.
    package func close() -> Bool { state.withLock { end(&$0) } }

    @discardableResult private func end(_ state: inout State) -> Bool {
        for supervisor in state.idle { supervisor.close() }
        state.idle = []
        guard state.socket >= 0 else { return true }
        closeFile(state.socket)
        // It ends when its socket closes, and in a sandbox everything ends with it; bubblewrap waits for that. Without
        // a sandbox, a step that runs as our own user may have stopped it, so the wait has a limit.
        var status: Int32 = 0
        let clock = ContinuousClock()
        let limit = clock.now + patience
        let end = ChildEnd(state.pid)
        while clock.now < limit {
            let ended = waitpid(state.pid, &status, WNOHANG)
            if ended != 0 {
                let isCertain = ended == state.pid && (!isEnclosed || isEndOfAll(status))
                state = State(nextID: state.nextID)
                return isCertain
            }
            end.wait()
        }
        // A process that hangs in the kernel can't be ended from here. Killing the process that waits for it frees us
        // from waiting, although the hanging process remains on the machine.
        _ = killProcess(state.pid, SIGKILL)
        ChildEnd.reap(state.pid)
        state = State(nextID: state.nextID)
        return false
    }

    /// Whether this exit status proves that no process in the sandbox is alive.
    private func isEndOfAll(_ status: Int32) -> Bool {
        // bubblewrap waits for the first process of the sandbox, which ends when all others have (pid_namespaces(7)), and
        // passes its signal on as a status of its own: where a signal has ended bubblewrap, it did not wait.
        status & 0x7F == 0
    }

    private func start(_ state: inout State) throws {
        let (ours, theirs) = try socketPair()
        defer { closeFile(theirs) }
        // The numbers are above those that stepinit expects, so that none is overwritten before it is moved.
        let entrances = try (group?.entrances() ?? []).map { entrance in
            defer { closeFile(entrance) }
            return fcntl(entrance, F_DUPFD_CLOEXEC, 32)
        }
        defer { entrances.forEach(closeFile) }
        // Commands get their own environment; this process must not reveal ours.
        var request = SpawnRequest(command, descriptors: [(own: theirs, given: 0)])
        for (number, entrance) in entrances.enumerated() {
            request.descriptors.append((own: entrance, given: 3 + Int32(number)))
        }
        switch request.start() {
        case .success(let pid): (state.pid, state.socket) = (pid, ours)
        case .failure(let problem):
            closeFile(ours)
            throw StepHostProblem(program: command[0], errno: problem)
        }
    }

    /// Sends a request and returns 0, or an errno.
    private static func send(request: UInt32, id: UInt32, files: [Int32], over socket: Int32) -> Int32 {
        let bytes = [request, id].withUnsafeBytes { Array($0) }
        return DescriptorMessage.send(bytes, files: files, over: socket)
    }
}

/// Why no step can be started at all.
package struct StepHostProblem: Error, CustomStringConvertible {
    /// The program that could not be started.
    package let program: String
    /// The system's error.
    package let errno: Errno

    package var description: String {
        "\(program) can't be started: \(errno); pipectl needs it: see `pipectl doctor`"
    }
}

private func killProcess(_ pid: pid_t, _ signal: Int32) -> Int32 { kill(pid, signal) }
