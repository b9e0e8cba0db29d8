import Foundation
import Subprocess

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif
#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// Runs a trusted program to its end: `swiftc`, `swift`, `git`. Steps of a workflow are started by ``StepHost``
/// instead.
public struct ExternalCommand: Sendable {
    /// A path, or a name that is looked up in `PATH`.
    public var executable: String
    public var arguments: [String]
    /// The folder to run in; nil is the folder of this process.
    public var directory: String?
    /// All environment variables; nil means those of this process.
    public var environment: [String: String]?
    /// The time limit by the wall clock. When it has passed, the program and its process group are ended.
    public var deadline: Duration
    /// The time between SIGTERM and SIGKILL.
    public var grace: Duration
    /// The most bytes of output that are returned: the first and the last half of this number.
    public var outputLimit: Int
    /// The bytes for its standard input.
    public var input: [UInt8] = []

    public init(
        _ executable: String, _ arguments: [String] = [], in directory: String? = nil,
        environment: [String: String]? = nil, deadline: Duration = .seconds(60), grace: Duration = .seconds(2),
        outputLimit: Int = 1 << 20
    ) {
        self.executable = executable
        self.arguments = arguments
        self.directory = directory
        self.environment = environment
        self.deadline = deadline
        self.grace = grace
        self.outputLimit = outputLimit
    }

    /// Runs the program and waits until it and its process group have ended.
    ///
    /// - Throws: ``ExternalCommandError`` if it can't be started, `CancellationError` if the task is cancelled. An exit
    ///   code other than 0, a signal or a passed deadline is no error but an ``ExternalCommandResult``.
    public func run() async throws -> ExternalCommandResult {
        try Task.checkCancellation()
        let ended = try await withThrowingTaskGroup(of: ExternalCommandResult?.self) { group in
            group.addTask { try await startPatiently() }
            group.addTask {
                // This task is cancelled as soon as the program has ended.
                try? await Task.sleep(for: deadline)
                return nil
            }
            // The first of the two decides; cancelling the other ends the program, or the wait.
            let first = try await group.next() ?? nil
            group.cancelAll()
            if let first { return first }
            guard var late = try await group.next() ?? nil else { throw CancellationError() }
            late.ending = .deadline(deadline)
            return late
        }
        try Task.checkCancellation()
        return ended
    }

    /// Starts the program when enough descriptors are free, and retries a few times if the system lacks processes or
    /// memory.
    private func startPatiently() async throws -> ExternalCommandResult {
        var pause = Duration.milliseconds(100)
        for _ in 1...5 {
            do {
                try await OpenFiles.waitForRoom(patience: min(deadline, .seconds(60)))
            } catch let problem as OpenFiles.NoRoom {
                throw ExternalCommandError(executable: executable, directory: directory, cause: problem)
            }
            do { return try await start() } catch let error as ExternalCommandError {
                guard error.passes else { throw error }
                try await Task.sleep(for: pause)
                pause *= 2
            }
        }
        return try await start()
    }

    private func start() async throws -> ExternalCommandResult {
        if input.isEmpty { return try await start(reading: .none) }
        return try await start(
            reading: .fileDescriptor(try Self.file(holding: input), closeAfterSpawningProcess: true))
    }

    /// An unnamed file that contains `input`, open for reading.
    ///
    /// It is not a pipe: if a process ends before it has read all of its input, writing to the pipe would end this
    /// process with SIGPIPE.
    private static func file(holding input: [UInt8]) throws -> FileDescriptor {
        let folder = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        let path = FilePath("\(folder)/pipectl-input-\(UUID().uuidString)")
        let written = try FileDescriptor.open(
            path, .writeOnly, options: [.create, .exclusiveCreate, .closeOnExec], permissions: [.ownerReadWrite])
        defer { unlink(path.string) }
        try written.closeAfter { _ = try written.writeAll(input) }
        return try FileDescriptor.open(path, .readOnly, options: [.closeOnExec])
    }

    private func start(reading input: some InputProtocol) async throws -> ExternalCommandResult {
        var options = PlatformOptions()
        options.createSession = true  // makes its pid a process group, so that a signal reaches all of it
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: grace)]
        var group: pid_t?
        // Teardown ends with the first process. The kernel does not reuse the group's number while a member is alive.
        defer { if let group { kill(-group, SIGKILL) } }
        var output = ExternalCommandOutput(limit: outputLimit)
        var variables = Environment.inherit
        if let environment {
            var custom: [Environment.Key: String] = [:]
            for (name, value) in environment { if let key = Environment.Key(rawValue: name) { custom[key] = value } }
            variables = .custom(custom)
        }
        do {
            let result = try await Subprocess.run(
                executable.contains("/") ? .path(FilePath(executable)) : .name(executable),
                arguments: Arguments(arguments), environment: variables,
                workingDirectory: directory.map { FilePath($0) }, platformOptions: options, input: input,
                output: .sequence, error: .combinedWithOutput
            ) { execution in
                group = execution.processIdentifier.value
                // Read buffers and not lines: a very long line must neither fill the memory nor end the program.
                for try await buffer in execution.standardOutput {
                    buffer.withUnsafeBytes { output.append($0) }
                }
            }
            let ending: ExternalCommandResult.Ending =
                switch result.terminationStatus {
                case .exited(let code): .exited(code)
                case .signaled(let signal): .signal(signal)
                }
            return ExternalCommandResult(ending: ending, output: output.bytes, droppedBytes: output.dropped)
        } catch let error as SubprocessError where group == nil {
            throw ExternalCommandError(executable: executable, directory: directory, cause: error)
        } catch  where Task.isCancelled && group != nil {
            return ExternalCommandResult(ending: .signal(SIGTERM), output: output.bytes, droppedBytes: output.dropped)
        }
    }
}

/// How an ``ExternalCommand`` ended and what it printed.
public struct ExternalCommandResult: Sendable, Equatable {
    public enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signal(Int32)
        /// It took longer than this and was ended.
        case deadline(Duration)
    }

    /// How it ended.
    public var ending: Ending
    /// Standard output and standard error as they came, in order.
    public var output: [UInt8]
    /// The number of bytes that were left out in the middle of ``output``.
    public var droppedBytes: Int

    package init(ending: Ending, output: [UInt8], droppedBytes: Int) {
        self.ending = ending
        self.output = output
        self.droppedBytes = droppedBytes
    }

    /// Whether it ended with the exit code 0.
    public var succeeded: Bool { ending == .exited(0) }

    /// The output as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: output, as: UTF8.self) }
}

/// Why an ``ExternalCommand`` could not be started.
public struct ExternalCommandError: Error, Sendable, CustomStringConvertible {
    /// The program's path or name.
    public let executable: String
    /// The folder that it was to run in; nil for the folder of this process.
    public let directory: String?
    /// The system's error.
    public let cause: any Error

    /// Whether the system lacked processes, descriptors or memory, so that a retry may succeed.
    var passes: Bool {
        guard let code = (cause as? SubprocessError)?.underlyingError else { return false }
        return [EAGAIN, ENOMEM, EMFILE, ENFILE].contains(code.rawValue)
    }

    public var description: String {
        let place = directory.map { " in \($0)" } ?? ""
        return
            "\(executable) can't be started\(place): \(cause). Is it installed and in PATH? Check with `pipectl doctor`."
    }
}

/// Collects the first and the last bytes of an output of any length.
struct ExternalCommandOutput {
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var cut = 0
    private let half: Int

    init(limit: Int) { half = max(limit / 2, 1) }

    /// The number of bytes that were left out.
    var dropped: Int { cut + max(tail.count - half, 0) }

    /// The collected bytes, with a line that says how many are missing.
    var bytes: [UInt8] {
        guard dropped > 0 else { return head + tail }
        return head + Array("\n… \(dropped) bytes dropped …\n".utf8) + tail.suffix(half)
    }

    mutating func append(_ buffer: UnsafeRawBufferPointer) {
        let room = min(half - head.count, buffer.count)
        head.append(contentsOf: buffer.prefix(room))
        tail.append(contentsOf: buffer.dropFirst(room))
        // It grows to twice the size before it is cut, so each byte is moved once and not once for every buffer.
        if tail.count > 2 * half {
            let excess = tail.count - half
            tail.removeFirst(excess)
            cut += excess
        }
    }
}
