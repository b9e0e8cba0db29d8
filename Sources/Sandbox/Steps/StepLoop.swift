import Concurrency
import Synchronization
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The thread of one run: it runs the run's tasks and reads the output of steps that are new and print little.
///
/// When a step ends, the thread that reads its report also starts the next step. No other thread has to be woken, which
/// would cost more than everything else between two short steps. Work that takes longer (a step that runs long or
/// prints much, collecting files) moves to a thread of its own.
package final class StepLoop: TaskExecutor {
    /// Why the loop stops watching an attempt.
    enum News: Sendable {
        /// Its report can be read, and its output has been read.
        case hasReport
        /// It has run for its time here, or prints much: another thread has to take over.
        case goesOn
    }

    private struct Attempt: Sendable {
        let control: Int32
        /// -1 once the output has ended, which may be long before the command ends.
        var pipe: Int32
        let until: ContinuousClock.Instant
        let output: @Sendable (UnsafeRawBufferPointer) -> Void
        let continuation: CheckedContinuation<News, Never>
    }

    private struct State {
        var jobs: [UnownedJob] = []
        var attempts: [Attempt] = []
        var isAsleep = false
        /// Resumed when the thread ends.
        var ending: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    /// Bytes of one read, and of a pipe: a step that fills the pipe between two looks prints much.
    private static let size = 1 << 16
    /// Maximum number of rounds of jobs between two looks at the attempts.
    private static let mostRounds = 32

    private let state = Mutex(State())
    /// A byte written to this pipe wakes the thread.
    private let alarm: (reading: Int32, writing: Int32)

    private init(alarm: (reading: Int32, writing: Int32)) { self.alarm = alarm }

    /// Runs `body` and all its child tasks on a thread of their own; if the system can't create one, on the usual pool.
    package static func run<Value: Sendable>(_ body: @Sendable (StepLoop?) async -> Value) async -> Value {
        guard let alarm = try? outputPipe() else { return await body(nil) }
        _ = fcntl(alarm.writing, F_SETFL, O_NONBLOCK)
        let loop = StepLoop(alarm: alarm)
        // The stack is as large as that of the pool's threads, because any code of a task may run here.
        guard startThread(stack: 8 << 20, { loop.turn() }) == 0 else {
            for end in [alarm.reading, alarm.writing] { closeFile(end) }
            return await body(nil)
        }
        let value = await withTaskExecutorPreference(loop) { await body(loop) }
        await withCheckedContinuation { loop.end($0) }
        return value
    }

    /// Runs `body`, which may block, while no other task of the run has anything to do: in place on the run's own
    /// thread, otherwise on a new one.
    package static func block<Value: Sendable>(
        _ loop: StepLoop?, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        loop == nil ? try await onOwnThread(body) : try body()
    }

    /// Runs a job of the run's tasks on the loop's thread, or on the usual pool once the loop has ended.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = state.withLock { state in
            guard !state.hasEnded else { return false }
            state.jobs.append(job)
            ring(&state)
            return true
        }
        // The last task may have left an actor that still has work for others.
        if !isTaken { return globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Waits on the loop's thread for the attempt's report until `limit`, and passes its output on meanwhile.
    func news(
        control: Int32, pipe: Int32, until limit: ContinuousClock.Instant,
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async -> News {
        await withCheckedContinuation { continuation in
            let attempt = Attempt(
                control: control, pipe: pipe, until: limit, output: output, continuation: continuation)
            state.withLock { state in
                state.attempts.append(attempt)
                ring(&state)
            }
        }
    }

    private func end(_ continuation: CheckedContinuation<Void, Never>) {
        state.withLock { state in
            state.ending = continuation
            ring(&state)
        }
    }

    /// Called under the lock: the thread closes the alarm when it ends, and its descriptor may then belong to another
    /// file.
    private func ring(_ state: inout State) {
        guard state.isAsleep else { return }
        state.isAsleep = false
        var byte: UInt8 = 1
        _ = write(alarm.writing, &byte, 1)
    }

    /// The body of the thread: runs jobs, and sleeps until there is a job or an attempt has output.
    private func turn() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: StepLoop.size, alignment: 16)
        defer { buffer.deallocate() }
        let executor = asUnownedTaskExecutor()
        while true {
            // Jobs come first, but only for a limited number of rounds: an attempt's output may be waiting.
            for _ in 0..<StepLoop.mostRounds {
                let jobs = state.withLock { state in
                    defer { state.jobs.removeAll(keepingCapacity: true) }
                    return state.jobs
                }
                if jobs.isEmpty { break }
                for job in jobs { job.runSynchronously(on: executor) }
            }
            let (attempts, isIdle) = state.withLock { state in
                state.isAsleep = state.jobs.isEmpty
                return (state.attempts, state.isAsleep)
            }
            if isIdle, let ending = endIfWanted() { return ending.resume() }
            look(at: attempts, waiting: isIdle, buffer)
        }
    }

    /// Returns the waiter for the thread's end if nothing is left to do; no job is accepted from then on.
    private func endIfWanted() -> CheckedContinuation<Void, Never>? {
        state.withLock { state in
            guard state.jobs.isEmpty, let ending = state.ending else { return nil }
            (state.isAsleep, state.hasEnded, state.ending) = (false, true, nil)
            for end in [alarm.reading, alarm.writing] { closeFile(end) }
            return ending
        }
    }

    /// Polls all attempts once, and stops watching those that are done.
    private func look(at attempts: [Attempt], waiting: Bool, _ buffer: UnsafeMutableRawBufferPointer) {
        if attempts.isEmpty && !waiting { return }
        var files = [pollfd(fd: alarm.reading, events: Int16(POLLIN), revents: 0)]
        for attempt in attempts {
            // poll(2) ignores a negative descriptor.
            for file in [attempt.control, attempt.pipe] {
                files.append(pollfd(fd: file, events: Int16(POLLIN), revents: 0))
            }
        }
        var milliseconds: Int32 = waiting ? -1 : 0
        let clock = ContinuousClock()
        if waiting, let first = attempts.map(\.until).min() {
            milliseconds = Int32(clamping: Int(((first - clock.now) / .milliseconds(1)).rounded(.up)))
            milliseconds = max(milliseconds, 0)
        }
        let ready = poll(&files, nfds_t(files.count), milliseconds)
        state.withLock { $0.isAsleep = false }
        if ready > 0, files[0].revents != 0 {
            while readSome(alarm.reading, buffer) > 0 {}
        }
        let now = clock.now
        var through: [(control: Int32, news: News)] = []
        var ended: [Int32] = []
        for (index, attempt) in attempts.enumerated() {
            var news: News?
            if ready > 0 {
                let (control, pipe) = (files[1 + 2 * index].revents, files[2 + 2 * index].revents)
                if pipe != 0 || control != 0, attempt.pipe >= 0 {
                    switch read(attempt, buffer) {
                    case .nothing: break
                    case .end: ended.append(attempt.control)
                    case .much: news = .goesOn
                    }
                }
                if control != 0, news == nil { news = .hasReport }
            }
            if news == nil, now >= attempt.until { news = .goesOn }
            if let news { through.append((attempt.control, news)) }
        }
        guard !through.isEmpty || !ended.isEmpty else { return }
        let continuations = state.withLock { state in
            for index in state.attempts.indices where ended.contains(state.attempts[index].control) {
                state.attempts[index].pipe = -1
            }
            return through.compactMap { attempt in
                state.attempts.firstIndex { $0.control == attempt.control }.map {
                    (state.attempts.remove(at: $0).continuation, attempt.news)
                }
            }
        }
        for (continuation, news) in continuations { continuation.resume(returning: news) }
    }

    private enum Reading { case nothing, end, much }

    /// Reads from the pipe once.
    private func read(_ attempt: Attempt, _ buffer: UnsafeMutableRawBufferPointer) -> Reading {
        var count = -1
        repeat { count = readSome(attempt.pipe, buffer) } while count < 0 && errno == EINTR
        guard count > 0 else { return count == 0 ? .end : .nothing }
        attempt.output(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        return count == buffer.count ? .much : .nothing
    }
}

private func readSome(_ file: Int32, _ buffer: UnsafeMutableRawBufferPointer) -> Int {
    read(file, buffer.baseAddress, buffer.count)
}
