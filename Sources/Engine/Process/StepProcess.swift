import Pipeline
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What a command needs to be started.
struct StepCommand: Sendable {
    var arguments: [String]
    var workingDirectory: FilePath
    var environment: [String: String]
    /// Files that the command finds in ``secretsFolder``, readable for it alone and on no disk.
    var secrets: [SecretFile] = []
    /// Where the command sees ``secrets``.
    var secretsFolder: FilePath = "/run/secrets"
    /// What each process of it may use.
    var limits = ProcessLimits()
    /// Whether its input and output are a pseudo-terminal.
    var hasTerminal = false
    /// Its control group, if the box has any.
    var group: ControlGroup?
}

/// What the kernel limits for each process by itself (setrlimit(2)); 0 means nothing.
struct ProcessLimits: Sendable, Equatable {
    /// Seconds.
    var cpuTime: UInt64 = 0
    /// Bytes of a file that is written.
    var fileSize: UInt64 = 0
    /// Bytes of memory that is not shared or mapped from a file.
    var data: UInt64 = 0
    /// Processes of the step's user.
    var processes: UInt64 = 0
    /// Open files.
    var openFiles: UInt64 = 0
}

/// How a command ended.
struct ProcessEnd: Sendable, Equatable {
    var exitCode: Int32?
    var signal: Int32?
    /// The request that ended it, if it was asked to end before it had ended by itself.
    var stopped: StopRequest?
    /// Whether something of it was still alive after the grace and was killed.
    var wasKilled = false
}

/// Why a command was not started or its end is not known.
enum StepProcessProblem: Error, Equatable {
    /// The program can't be executed; the number is exec's.
    case command(Errno)
    /// The working directory can't be entered.
    case folder(Errno)
    /// The system had no process, descriptor or memory left, also after a while.
    case system(Errno)
    /// Something killed the process that watches over the step.
    case lost
    /// A word or variable can't be handed over.
    case nulByte
    /// A secret's file can't be written.
    case secret(Errno)
    /// The control group can't be entered.
    case group(Errno)
}

/// Runs one command under `stepinit`, so that nothing it starts outlives it.
struct StepProcess: Sendable {
    let host: StepHost
    /// How long everything may take to end after SIGTERM, before SIGKILL.
    let grace: Duration
    /// Called on the attempt's own thread when the command has been handed over.
    var launched: (@Sendable () -> Void)?

    /// Runs `command` to its end, or until `stop` is made or `timeout` has passed.
    ///
    /// Output is handed over as it comes, both streams in the order in which they were written, on a thread of the
    /// attempt's own; what is not taken makes the command wait. The caller's cancellation counts as a stop: this
    /// returns only when the command and everything it started are gone.
    ///
    /// - Parameter watch: Asked about once a second, on the attempt's own thread, whether the command must end.
    /// - Throws: ``StepProcessProblem``, or why stepinit can't be started.
    func run(
        _ command: StepCommand, timeout: Duration, stop: StopSignal,
        watch: @escaping @Sendable () -> StopRequest? = { nil },
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> ProcessEnd {
        try await withTaskCancellationHandler {
            try await onOwnThread {
                try supervise(command, timeout: timeout, stop: stop, watch: watch, output: output)
            }
        } onCancel: {
            stop.stop(StopRequest(.cancelled, reason: "cancelled"))
        }
    }

    private func supervise(
        _ command: StepCommand, timeout: Duration, stop: StopSignal, watch: () -> StopRequest?,
        output: (UnsafeRawBufferPointer) -> Void
    ) throws -> ProcessEnd {
        let launch = try payload(command)
        // When processes or descriptors run out, others of the box may soon end and give theirs back.
        var pause: UInt32 = 50_000
        var attempt = 0
        while true {
            attempt += 1
            if let request = stop.request { return ProcessEnd(stopped: request) }
            do {
                return try superviseOnce(
                    launch, in: command.group, timeout: timeout, stop: stop, watch: watch, output: output)
            } catch let problem as StepProcessProblem {
                guard case .system(let code) = problem, attempt < 6, StepProcess.passes(code) else { throw problem }
            } catch let problem as StepHostProblem {
                guard attempt < 6, StepProcess.passes(problem.errno) else { throw problem }
            } catch let code as Errno {
                guard attempt < 6, StepProcess.passes(code) else { throw StepProcessProblem.system(code) }
            }
            usleep(pause)
            pause *= 2
        }
    }

    static func passes(_ code: Errno) -> Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .resourceTemporarilyUnavailable, .noMemory].contains(code)
    }

    private func superviseOnce(
        _ launch: [UInt8], in group: ControlGroup?, timeout: Duration, stop: StopSignal, watch: () -> StopRequest?,
        output: (UnsafeRawBufferPointer) -> Void
    ) throws -> ProcessEnd {
        let (ours, theirs) = try socketPair()
        let control = Control(socket: ours)
        defer { control.close() }
        let pipe: (reading: Int32, writing: Int32)
        let id: UInt32
        do {
            defer { closeFile(theirs) }
            pipe = try outputPipe()
            defer { closeFile(pipe.writing) }
            do {
                let entrances = try group?.entrances() ?? []
                defer { entrances.forEach(closeFile) }
                id = try host.startWarden(control: theirs, output: pipe.writing, groups: entrances)
            } catch {
                closeFile(pipe.reading)
                throw error
            }
        }
        defer { closeFile(pipe.reading) }
        guard control.send(launch) else { throw StepProcessProblem.lost }
        launched?()
        let handler = stop.onStop { _ in control.askToEnd() }
        defer { stop.removeHandler(handler) }

        var ownStop: StopRequest?
        let report = try withOutput(of: pipe.reading, output) { reader in
            let clock = ContinuousClock()
            let deadline = clock.now + timeout
            var nextWatch = clock.now + .seconds(1)
            var isHostAsked = false
            while true {
                let now = clock.now
                if ownStop == nil, stop.request == nil {
                    if now >= nextWatch {
                        nextWatch = now + .seconds(1)
                        ownStop = watch()
                    }
                    // What has ended by itself was in time, even if this process was stopped and looks only now.
                    if ownStop == nil, now >= deadline, !reader.hasReport(on: ours) {
                        ownStop = StopRequest(.timedOut, reason: "it took longer than \(timeout.inWords)")
                    }
                    if ownStop != nil { control.askToEnd() }
                }
                if let asked = control.askedAt {
                    // The warden ends the tree within the grace; more is only needed when it can't.
                    if !isHostAsked, clock.now > asked + grace + .seconds(5) {
                        isHostAsked = true
                        host.kill(id)
                    } else if clock.now > asked + grace + .seconds(30) {
                        throw StepProcessProblem.lost
                    }
                }
                // A stop comes as a byte to the warden, not to us, so its escalation is looked for once a second.
                let wait = ownStop == nil ? min(deadline - clock.now, .seconds(1)) : .seconds(1)
                if try reader.waitForReport(on: ours, atMost: wait) {
                    guard let report = StepReport(readFrom: ours) else { throw StepProcessProblem.lost }
                    reader.drain()
                    return report
                }
            }
        }
        let request = ownStop ?? stop.request
        switch report.kind {
        case .ended:
            var end = ProcessEnd(wasKilled: report.wasKilled)
            let signal = report.value & 0x7f
            if signal == 0 { end.exitCode = (report.value >> 8) & 0xff } else { end.signal = signal }
            if report.wasAsked { end.stopped = request }
            return end
        case .noCommand: throw StepProcessProblem.command(Errno(rawValue: report.value))
        case .noFolder: throw StepProcessProblem.folder(Errno(rawValue: report.value))
        case .noProcess: throw StepProcessProblem.system(Errno(rawValue: report.value))
        case .noSecret: throw StepProcessProblem.secret(Errno(rawValue: report.value))
        case .noGroup: throw StepProcessProblem.group(Errno(rawValue: report.value))
        case .lost:
            // Asked in vain, it was killed by us.
            if let request, control.askedAt != nil {
                return ProcessEnd(signal: SIGKILL, stopped: request, wasKilled: true)
            }
            throw StepProcessProblem.lost
        }
    }

    /// What the warden is told: `struct launch` of stepinit, then its texts.
    private func payload(_ command: StepCommand) throws -> [UInt8] {
        var texts: [UInt8] = []
        func add(_ text: String) throws {
            guard !text.utf8.contains(0) else { throw StepProcessProblem.nulByte }
            texts += text.utf8
            texts.append(0)
        }
        try add(command.workingDirectory.string)
        try add(command.secretsFolder.string)
        for word in command.arguments { try add(word) }
        for (name, value) in command.environment { try add("\(name)=\(value)") }
        for secret in command.secrets { try add(secret.name) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + texts.count)
        func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }
        append(UInt32(texts.count))
        append(UInt32(command.arguments.count))
        append(UInt32(command.environment.count))
        append(UInt32(clamping: Int(grace / .milliseconds(1))))
        // A limit that was asked for can't be raised again; the usual one is only where programs start.
        append(UInt32((command.hasTerminal ? 1 : 0) | (command.limits.openFiles == 0 ? 0 : 2)))
        append(UInt32(command.secrets.count))
        let limits = command.limits
        append(limits.openFiles == 0 ? UInt64(OpenFiles.inherited) : limits.openFiles)
        for limit in [limits.cpuTime, limits.fileSize, limits.data, limits.processes] { append(limit) }
        bytes += texts
        for secret in command.secrets {
            append(UInt32(secret.bytes.count))
            bytes += secret.bytes
        }
        return bytes
    }

    private func withOutput<Result>(
        of pipe: Int32, _ output: (UnsafeRawBufferPointer) -> Void, _ body: (inout OutputReader) throws -> Result
    ) rethrows -> Result {
        try withoutActuallyEscaping(output) { output in
            var reader = OutputReader(pipe: pipe, output: output)
            defer { reader.free() }
            return try body(&reader)
        }
    }
}

/// Our end of an attempt's control socket, for the attempt's thread and for whoever stops it.
private final class Control: Sendable {
    private struct State {
        var socket: Int32
        var askedAt: ContinuousClock.Instant?
    }

    private let state: Mutex<State>

    init(socket: Int32) { state = Mutex(State(socket: socket)) }

    var askedAt: ContinuousClock.Instant? { state.withLock { $0.askedAt } }

    /// Sends all of `bytes`; false when nobody takes them.
    func send(_ bytes: [UInt8]) -> Bool {
        let socket = state.withLock { $0.socket }
        // A stepinit that hangs must not hang the attempt: no byte is taken for half a minute.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        return bytes.withUnsafeBytes { buffer in
            var done = 0
            while done < buffer.count {
                let count = Engine.send(socket, UnsafeRawBufferPointer(rebasing: buffer[done...]))
                if count < 0 && errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// Tells the warden, once, to end what it watches over.
    func askToEnd() {
        state.withLock { state in
            guard state.socket >= 0, state.askedAt == nil else { return }
            state.askedAt = ContinuousClock().now
            _ = [UInt8(ascii: "T")].withUnsafeBytes { Engine.send(state.socket, $0) }
        }
    }

    func close() {
        state.withLock { state in
            closeFile(state.socket)
            state.socket = -1
        }
    }
}

private func send(_ socket: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    send(socket, buffer.baseAddress, buffer.count, noSignal)
}

/// `struct report` of stepinit.
private struct StepReport {
    enum Kind: UInt32 { case ended = 1, noCommand, noFolder, noProcess, lost, noSecret, noGroup }

    var kind: Kind
    var value: Int32
    var wasAsked: Bool
    var wasKilled: Bool

    /// Nil when both stepinit and the warden are gone.
    init?(readFrom socket: Int32) {
        var bytes = [UInt8](repeating: 0, count: 12)
        var count = -1
        repeat { count = recv(socket, &bytes, 12, Int32(MSG_WAITALL)) } while count < 0 && errno == EINTR
        guard count == 12 else { return nil }
        let numbers = bytes.withUnsafeBytes { Array($0.bindMemory(to: UInt32.self)) }
        guard let kind = Kind(rawValue: numbers[0]) else { return nil }
        self.kind = kind
        value = Int32(bitPattern: numbers[1])
        wasAsked = numbers[2] & 1 != 0
        wasKilled = numbers[2] & 2 != 0
    }
}

/// Reads an attempt's output beside waiting for its report.
private struct OutputReader {
    /// Bytes of one read, and of the pipe of a step that prints much.
    private static let size = 1 << 18

    private var pipe: Int32
    private let output: (UnsafeRawBufferPointer) -> Void
    private var buffer: UnsafeMutableRawBufferPointer?
    private var isPipeLarge = false

    init(pipe: Int32, output: @escaping (UnsafeRawBufferPointer) -> Void) {
        self.pipe = pipe
        self.output = output
    }

    func free() { buffer?.deallocate() }

    /// Hands output over until a report can be read (true) or the time is over (false).
    mutating func waitForReport(on control: Int32, atMost wait: Duration) throws -> Bool {
        var files = [
            pollfd(fd: control, events: Int16(POLLIN), revents: 0),
            // A negative number is left out: the output may end long before the command does.
            pollfd(fd: pipe, events: Int16(POLLIN), revents: 0),
        ]
        let milliseconds = Int32(clamping: Int((wait / .milliseconds(1)).rounded(.up)))
        let ready = poll(&files, 2, max(milliseconds, 0))
        if ready < 0 && errno != EINTR { throw Errno(rawValue: errno) }
        guard ready > 0 else { return false }
        if files[1].revents != 0 { read(atMost: 16) }
        return files[0].revents != 0
    }

    /// Whether the warden has said how the command ended.
    func hasReport(on control: Int32) -> Bool {
        var file = pollfd(fd: control, events: Int16(POLLIN), revents: 0)
        return poll(&file, 1, 0) > 0 && file.revents != 0
    }

    /// Takes what is left in the pipe; what a process outside the step's tree writes into it does not hold us up.
    mutating func drain() { read(atMost: 64) }

    private mutating func read(atMost rounds: Int) {
        for _ in 0..<rounds where pipe >= 0 {
            let buffer = buffer ?? .allocate(byteCount: OutputReader.size, alignment: 16)
            self.buffer = buffer
            let count = readSome(pipe, buffer)
            if count < 0 && errno == EINTR { continue }
            if count == 0 { pipe = -1 }
            guard count > 0 else { return }
            output(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            guard count < 1 << 16 else {
                enlargePipe()
                continue
            }
        }
    }

    /// Fewer switches between the two processes; most steps never print enough to need it.
    private mutating func enlargePipe() {
        #if os(Linux)
            guard !isPipeLarge else { return }
            isPipeLarge = true
            _ = fcntl(pipe, 1031, Int32(OutputReader.size))  // F_SETPIPE_SZ; refused beyond the user's limit
        #endif
    }
}

private func readSome(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(file, buffer.baseAddress, buffer.count)
}

extension Duration {
    /// `1 h 5 min`, `2 min 3 s`, `4.2 s`, `12 ms`: at most two units.
    public var inWords: String {
        let seconds = Double(components.seconds) + Double(components.attoseconds) / 1e18
        switch seconds {
        case ..<1: return "\(Int((seconds * 1000).rounded())) ms"
        case ..<60:
            let tenths = (seconds * 10).rounded() / 10
            return tenths == tenths.rounded() ? "\(Int(tenths)) s" : "\(tenths) s"
        case ..<3600:
            let rest = Int(seconds) % 60
            return "\(Int(seconds) / 60) min" + (rest == 0 ? "" : " \(rest) s")
        default:
            let rest = Int(seconds) / 60 % 60
            return "\(Int(seconds) / 3600) h" + (rest == 0 ? "" : " \(rest) min")
        }
    }
}
