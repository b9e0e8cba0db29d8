package import Concurrency
import Results
import Pipeline
import Synchronization
package import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// How a command ended.
package struct ProcessEnd: Sendable, Equatable {
    /// Nil if a signal ended it.
    package var exitCode: Int32?
    /// The signal that ended it, if one did.
    package var signal: Int32?
    /// The stop request that ended it; nil if it had ended by itself before.
    package var stopped: StopRequest?
    /// Whether a process of it was still alive after the grace period and was killed.
    package var wasKilled = false

    package init(exitCode: Int32? = nil, signal: Int32? = nil, stopped: StopRequest? = nil, wasKilled: Bool = false) {
        self.exitCode = exitCode
        self.signal = signal
        self.stopped = stopped
        self.wasKilled = wasKilled
    }
}

/// Why a command did not start, or why its end is unknown.
package enum StepProcessProblem: Error, Equatable {
    /// The program can't be executed; the error is that of exec.
    case command(Errno)
    /// The working directory can't be entered.
    case folder(Errno)
    /// The system ran out of processes, descriptors or memory, and still had none after some retries.
    case system(Errno)
    /// The supervisor of the step was killed.
    case lost
    /// An argument or variable contains a NUL byte.
    case nulByte
    /// A secret's file can't be written.
    case secret(Errno)
    /// The control group can't be entered.
    case group(Errno)
}

/// Runs one command under `stepinit`, so that nothing it starts outlives it.
package struct StepProcess: Sendable {
    /// The `stepinit` that starts the command.
    package let host: StepHost
    /// How long all processes may take to end after SIGTERM, before SIGKILL.
    package let grace: Duration
    /// Called when the command has been passed to its supervisor.
    package var launched: (@Sendable () -> Void)?
    /// The thread that watches the command at first; nil: a thread of its own from the start.
    package var loop: StepLoop?

    package init(
        host: StepHost, grace: Duration, launched: (@Sendable () -> Void)? = nil, loop: StepLoop? = nil
    ) {
        self.host = host
        self.grace = grace
        self.launched = launched
        self.loop = loop
    }

    /// How long a command is watched together with others of its run; after that its limits are checked once a second.
    private static let youth = Duration.seconds(1)
    /// A message of this many bytes fits into every new socket.
    private static let mostAtOnce = 1 << 15

    /// Runs `command` to its end, or until `stop` is requested or `timeout` has passed.
    ///
    /// Output is passed on as it arrives, both streams in the order in which they were written, on the loop's thread or
    /// on one of the attempt's own. If the receiver is slow, the command has to wait. Cancelling the caller's task
    /// counts as a stop. This returns only when the command and everything it started have ended.
    ///
    /// - Parameter watch: Called about once a second on the attempt's own thread; returns why the command must end, or
    ///   nil.
    /// - Throws: ``StepProcessProblem``, or the error of starting stepinit.
    package func run(
        _ command: StepCommand, timeout: Duration, stop: StopSignal,
        watch: @escaping @Sendable () -> StopRequest? = { nil },
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> ProcessEnd {
        try await withTaskCancellationHandler {
            let order = Order(
                launch: try command.launch(grace: grace), group: command.group, timeout: timeout, stop: stop,
                watch: watch,
                output: output)
            if let loop, order.launch.count <= StepProcess.mostAtOnce,
                let end = try await supervise(order, on: loop)
            {
                return end
            }
            return try await onOwnThread { try supervise(order) }
        } onCancel: {
            stop.stop(StopRequest(.cancelled, reason: "cancelled"))
        }
    }

    /// An attempt that is about to start.
    private struct Order: Sendable {
        let launch: [UInt8]
        let group: ControlGroup?
        let timeout: Duration
        let stop: StopSignal
        let watch: @Sendable () -> StopRequest?
        let output: @Sendable (UnsafeRawBufferPointer) -> Void
    }

    /// An attempt that is running.
    private struct Begun: Sendable {
        let supervisor: Supervisor
        let control: SupervisorControl
        /// The reading end of its output.
        let pipe: Int32
        let start: ContinuousClock.Instant
        let deadline: ContinuousClock.Instant
        /// The registration at the stop signal.
        let handler: Int
    }

    /// Returns nil if there was no process, descriptor or memory for it; other work may free some soon.
    private func supervise(_ order: Order, on loop: StepLoop) async throws -> ProcessEnd? {
        if let request = order.stop.request { return ProcessEnd(stopped: request) }
        do {
            // This does not block the run's thread, which must receive a stop meanwhile.
            if !host.isStarted { try await onOwnThread { try host.startNow() } }
            let begun = try begin(order)
            var limit = min(begun.start + StepProcess.youth, begun.deadline)
            while true {
                let news = await loop.news(
                    control: begun.supervisor.socket, pipe: begun.pipe, until: limit, output: order.output)
                if news == .hasReport {
                    return try end(begun, order, StepReport(readFrom: begun.supervisor.socket), nil)
                }
                do {
                    let ended = try await onOwnThread { Result { try see(to: begun, order) } }
                    return try ended.get()
                } catch let problem as Errno where StepProcess.passes(problem) {
                    // No thread could be created: the output is read here until there is one.
                    limit = .now + .milliseconds(200)
                }
            }
        } catch let problem where StepProcess.passes(problem) {
            return nil
        }
    }

    private func supervise(_ order: Order) throws -> ProcessEnd {
        var pause: UInt32 = 50_000
        var attempt = 0
        while true {
            attempt += 1
            if let request = order.stop.request { return ProcessEnd(stopped: request) }
            do {
                return try see(to: begin(order), order)
            } catch let problem where attempt < 6 && StepProcess.passes(problem) {
                usleep(pause)
                pause *= 2
            } catch let code as Errno {
                throw StepProcessProblem.system(code)
            }
        }
    }

    /// Whether the cause was a shortage that ends when other work frees processes, descriptors or memory.
    private static func passes(_ problem: any Error) -> Bool {
        switch problem {
        case StepProcessProblem.system(let code), let code as Errno: passes(code)
        case let problem as StepHostProblem: passes(problem.errno)
        default: false
        }
    }

    /// Whether the error is such a shortage.
    package static func passes(_ code: Errno) -> Bool {
        [.tooManyOpenFiles, .tooManyOpenFilesInSystem, .resourceTemporarilyUnavailable, .noMemory].contains(code)
    }

    private func begin(_ order: Order) throws -> Begun {
        let pipe = try outputPipe()
        do {
            defer { closeFile(pipe.writing) }
            let entrances = try order.group?.entrances() ?? []
            defer { entrances.forEach(closeFile) }
            let supervisor = try host.hand(order.launch, files: [pipe.writing] + entrances)
            let start = ContinuousClock.now
            launched?()
            // The supervisor was woken on this processor; yielding lets it start before the rest of this function runs.
            sched_yield()
            let control = SupervisorControl(socket: supervisor.socket)
            return Begun(
                supervisor: supervisor, control: control, pipe: pipe.reading, start: start,
                deadline: start + order.timeout,
                handler: order.stop.onStop { _ in control.askToEnd() })
        } catch {
            closeFile(pipe.reading)
            throw error
        }
    }

    /// Watches an attempt until its report arrives.
    private func see(to begun: Begun, _ order: Order) throws -> ProcessEnd {
        var ownStop: StopRequest?
        let report: StepReport?
        do {
            report = try withOutput(of: begun.pipe, order.output) { reader in
                try waitForReport(of: begun, order, &reader, &ownStop)
            }
        } catch {
            letGo(begun, order, isServedAgain: false)
            throw error
        }
        return try end(begun, order, report, ownStop)
    }

    private func waitForReport(
        of begun: Begun, _ order: Order, _ reader: inout OutputReader, _ ownStop: inout StopRequest?
    ) throws -> StepReport? {
        let (control, socket) = (begun.control, begun.supervisor.socket)
        let clock = ContinuousClock()
        var nextWatch = begun.start + .seconds(1)
        var isHostAsked = false
        while true {
            let now = clock.now
            if ownStop == nil, order.stop.request == nil {
                if now >= nextWatch {
                    nextWatch = now + .seconds(1)
                    ownStop = order.watch()
                }
                // A command that has ended by itself was in time, even if this process was stopped and checks only now.
                if ownStop == nil, now >= begun.deadline, !reader.hasReport(on: socket) {
                    ownStop = StopRequest(.timedOut, reason: "it took longer than \(order.timeout.inWords)")
                }
                if ownStop != nil { control.askToEnd() }
            }
            if let asked = control.askedAt {
                // The supervisor ends the tree within the grace period; stepinit is asked only if the supervisor can't.
                if !isHostAsked, clock.now > asked + grace + .seconds(5) {
                    isHostAsked = true
                    host.kill(begun.supervisor.id)
                } else if clock.now > asked + grace + .seconds(30) {
                    throw StepProcessProblem.lost
                }
            }
            // A stop goes to the supervisor as a byte and not to us, so this checks once a second whether the
            // supervisor needs help.
            let wait = ownStop == nil ? min(begun.deadline - clock.now, .seconds(1)) : .seconds(1)
            if try reader.waitForReport(on: socket, atMost: wait) {
                let report = StepReport(readFrom: socket)
                reader.drain()
                return report
            }
        }
    }

    private func letGo(_ begun: Begun, _ order: Order, isServedAgain: Bool) {
        order.stop.removeHandler(begun.handler)
        closeFile(begun.pipe)
        // A supervisor that was asked to end may read that request only later, so it takes no further attempt.
        if begun.control.finish(), isServedAgain {
            host.giveBack(begun.supervisor)
        } else {
            begun.supervisor.close()
        }
    }

    /// - Parameter ownStop: Why this process ended the attempt, if it was not the order's stop signal.
    private func end(_ begun: Begun, _ order: Order, _ report: StepReport?, _ ownStop: StopRequest?) throws
        -> ProcessEnd
    {
        letGo(begun, order, isServedAgain: report?.isServedAgain ?? false)
        guard let report else { throw StepProcessProblem.lost }
        let request = ownStop ?? order.stop.request
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
            // It was asked to end and did not, so this process killed it.
            if let request, begun.control.askedAt != nil {
                return ProcessEnd(signal: SIGKILL, stopped: request, wasKilled: true)
            }
            throw StepProcessProblem.lost
        }
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
