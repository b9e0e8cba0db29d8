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

/// A trusted program run to its end: `swiftc`, `swift`, `git`. Steps of a workflow run elsewhere.
public struct ExternalCommand: Sendable {
    /// A path, or a name that is looked up in `PATH`.
    public var executable: String
    public var arguments: [String]
    /// The folder to run in; nil is the folder of this process.
    public var directory: String?
    /// All variables that it sees; nil means those of this process.
    public var environment: [String: String]?
    /// Wall clock. When it is over, the tool and everything in its process group is ended.
    public var deadline: Duration
    /// How long the tool may take to clean up after SIGTERM, before SIGKILL.
    public var grace: Duration
    /// Bytes of output that are kept: the first half and the last half of them.
    public var outputLimit: Int
    /// What it reads from its standard input.
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

    /// Runs the tool and waits until it and its process group are gone.
    ///
    /// - Throws: ``ExternalCommandError`` when it can't be started, `CancellationError` when the task is cancelled. A tool
    ///   that ends with another exit code than 0, by a signal or at its deadline is a ``ExternalCommandResult``.
    public func run() async throws -> ExternalCommandResult {
        try Task.checkCancellation()
        let ended = try await withThrowingTaskGroup(of: ExternalCommandResult?.self) { group in
            group.addTask { try await startPatiently() }
            group.addTask {
                // Cancelled as soon as the tool has ended.
                try? await Task.sleep(for: deadline)
                return nil
            }
            // Which of the two is first decides: cancelling the other one ends the tool, or the wait.
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

    /// Starts it when there are descriptors, and again a few times when the system has no process or memory to give.
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

    /// A file without a name that holds `input`, open for reading.
    ///
    /// Not a pipe: a process that ends before it has read all of its input would end this one, too, by SIGPIPE.
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
        options.createSession = true  // makes its pid a process group, which a signal can reach
        options.teardownSequence = [.gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: grace)]
        var group: pid_t?
        // Teardown ends with the first process. The number can't be taken by a stranger while a member lives.
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
                // Buffers, not lines: a line of any length must neither be kept whole nor end the tool.
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
        /// It was ended because it took longer than this.
        case deadline(Duration)
    }

    public var ending: Ending
    /// Standard output and standard error as they came, in order.
    public var output: [UInt8]
    /// Bytes that were left out in the middle of ``output``.
    public var droppedBytes: Int

    package init(ending: Ending, output: [UInt8], droppedBytes: Int) {
        self.ending = ending
        self.output = output
        self.droppedBytes = droppedBytes
    }

    public var succeeded: Bool { ending == .exited(0) }

    /// The output as text; bytes that are not UTF-8 become U+FFFD.
    public var text: String { String(decoding: output, as: UTF8.self) }
}

/// Why an ``ExternalCommand`` could not be started.
public struct ExternalCommandError: Error, Sendable, CustomStringConvertible {
    public let executable: String
    public let directory: String?
    /// What the system said.
    public let cause: any Error

    /// Whether it was for want of processes, descriptors or memory, which others may give back soon.
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

/// The first and the last bytes of an output of any length.
struct ExternalCommandOutput {
    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    private var cut = 0
    private let half: Int

    init(limit: Int) { half = max(limit / 2, 1) }

    /// Bytes that are not kept.
    var dropped: Int { cut + max(tail.count - half, 0) }

    /// What is kept, with a line that says what is missing.
    var bytes: [UInt8] {
        guard dropped > 0 else { return head + tail }
        return head + Array("\n… \(dropped) bytes dropped …\n".utf8) + tail.suffix(half)
    }

    mutating func append(_ buffer: UnsafeRawBufferPointer) {
        let room = min(half - head.count, buffer.count)
        head.append(contentsOf: buffer.prefix(room))
        tail.append(contentsOf: buffer.dropFirst(room))
        // Twice the size before it is cut: each byte is moved once, not once for every buffer.
        if tail.count > 2 * half {
            let excess = tail.count - half
            tail.removeFirst(excess)
            cut += excess
        }
    }
}
