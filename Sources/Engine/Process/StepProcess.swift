import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// What a command needs to be started.
struct StepCommand: Sendable {
    var arguments: [String]
    var workingDirectory: FilePath
    var environment: [String: String]
}

/// How a command ended.
struct ProcessEnd: Sendable, Equatable {
    var exitCode: Int32?
    var signal: Int32?
    /// The request that ended it, if it was asked to end.
    var stopped: StopRequest?
}

/// Runs one command under `stepinit`, so that nothing it starts outlives it.
struct StepProcess: Sendable {
    /// The `stepinit` program.
    let stepInit: FilePath
    /// How long everything may take to end after SIGTERM, before SIGKILL.
    let grace: Duration

    /// Runs `command` to its end, or until `stop` is made or `timeout` has passed.
    ///
    /// Output is handed over as it comes, both streams in the order in which they were written; what is not
    /// taken makes the command wait. The caller's cancellation counts as a stop: this returns only when the
    /// command and everything it started are gone.
    ///
    /// - Throws: What the system said when the process could not be started.
    func run(
        _ command: StepCommand, timeout: Duration, stop: StopSignal,
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> ProcessEnd {
        // The task below must outlive a cancellation of ours until the processes are gone, so it is not a child.
        let work = Task { try await supervise(command, timeout: timeout, stop: stop, output: output) }
        return try await withTaskCancellationHandler {
            try await work.value
        } onCancel: {
            stop.stop(StopRequest(.cancelled, reason: "cancelled"))
        }
    }

    private func supervise(
        _ command: StepCommand, timeout: Duration, stop: StopSignal,
        output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> ProcessEnd {
        if let request = stop.request { return ProcessEnd(stopped: request) }
        let milliseconds =
            Int(grace.components.seconds * 1000)
            + Int(grace.components.attoseconds / 1_000_000_000_000_000)
        var options = PlatformOptions()
        options.createSession = true
        let environment = Dictionary(
            command.environment.map { (Environment.Key(stringLiteral: $0), $1) }, uniquingKeysWith: { $1 })
        let result = try await Subprocess.run(
            .path(stepInit), arguments: Arguments([String(milliseconds)] + command.arguments),
            environment: .custom(environment), workingDirectory: command.workingDirectory, platformOptions: options,
            input: .none, output: .sequence, error: .combinedWithOutput
        ) { execution in
            try await withThrowingTaskGroup(of: StopRequest?.self) { group in
                group.addTask {
                    for try await buffer in execution.standardOutput {
                        buffer.withUnsafeBytes(output)
                    }
                    return nil
                }
                group.addTask {
                    guard let request = await StepProcess.firstStop(stop, timeout) else { return nil }
                    // stepinit ends the tree within the grace; only if it were stuck itself would more be needed.
                    try? execution.send(signal: .terminate)
                    do { try await Task.sleep(for: grace + .seconds(5)) } catch { return request }
                    try? execution.send(signal: .kill)
                    return request
                }
                // The output ends when stepinit does, whoever still holds the pipe.
                var stopped: StopRequest?
                if let first = try await group.next() { stopped = first }
                group.cancelAll()
                while let next = try await group.next() { stopped = stopped ?? next }
                return stopped
            }
        }
        switch result.terminationStatus {
        case .exited(let code): return ProcessEnd(exitCode: code, stopped: result.closureResult)
        case .signaled(let signal): return ProcessEnd(signal: signal, stopped: result.closureResult)
        }
    }

    /// The stop request, or the time-out's; nil when the command ended first.
    private static func firstStop(_ stop: StopSignal, _ timeout: Duration) async -> StopRequest? {
        await withTaskGroup(of: StopRequest?.self) { group in
            group.addTask { await stop.wait() }
            group.addTask {
                do { try await Task.sleep(for: timeout) } catch { return nil }
                return StopRequest(.timedOut, reason: "it took longer than \(timeout.inWords)")
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
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
