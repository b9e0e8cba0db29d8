import Concurrency
import Foundation
import Pipeline
public import Sandbox

/// The start of a compiler, a workflow program or a reader of foreign files, with what its sandbox must know.
///
/// All starts go through ``ProgramSandbox/run(_:environment:deadline:)``.
public struct ProgramLaunch: Sendable, Equatable {
    /// What the command is for.
    public enum Purpose: String, Sendable {
        /// `swiftc`, with untrusted files.
        case compile
        /// `swift build`, which also fetches dependencies and runs the package's manifest.
        case package
        /// Like `package`, for a change that is not merged: without network, which a change must not give to itself.
        case untrustedPackage
        /// The compiled program, to list its workflows.
        case describe
        /// The compiled program, to make a plan.
        case plan
        /// A program of pipectl's own that reads foreign text from its standard input.
        case read
    }

    /// What the program is started for.
    public var purpose: Purpose
    /// The program and its arguments. All paths are absolute, except those below ``directory``.
    public var command: [String]
    /// The folder to run in.
    public var directory: String
    /// Folders that it may write to.
    public var writes: [String]
    /// Folders that it may read, in addition to the system's and the toolchain's.
    public var reads: [String]
    /// pipectl's own programs, which every user may read.
    public var programs: [String] = []
    /// What the command reads from its standard input.
    public var input: [UInt8] = []
    /// Maximum size of the stored output in bytes.
    public var outputLimit = 1 << 20

    public init(_ purpose: Purpose, _ command: [String], in directory: String, writes: [String], reads: [String]) {
        self.purpose = purpose
        self.command = command
        self.directory = directory
        self.writes = writes
        self.reads = reads
    }
}

/// The sandbox of compilers and programs that work on untrusted files.
public struct ProgramSandbox: Sendable {
    /// Returns the command to start in place of the given one, and the user that it runs as; nil for our own.
    private let enclose: @Sendable (ProgramLaunch) throws -> (command: [String], user: StepUser?)
    private let isSandbox: Bool
    private let release: @Sendable (StepUser?) -> Void
    /// A sandbox that is looked for when it is first needed; it replaces all other properties.
    private let later: LazyProgramSandbox?
    /// Called with each result before anything is concluded from it, because a shutdown of the machine may have caused
    /// it.
    public var afterEnd: (@Sendable (ExternalCommandResult) async -> Void)?

    /// Uses the sandbox that `find` returns. It is called before the first start.
    public init(found find: @escaping @Sendable () async -> ProgramSandbox) {
        isSandbox = false
        enclose = { ($0.command, nil) }
        release = { _ in }
        later = LazyProgramSandbox(find)
    }

    /// Starts another command in place of the given one; both must end in the same way.
    public init(wrap: @escaping @Sendable (ProgramLaunch) -> [String]) {
        isSandbox = false
        enclose = { (wrap($0), nil) }
        release = { _ in }
        later = nil
    }

    /// Runs each command in a sandbox of its own, which shows the folders of the launch and nothing else.
    public init(_ sandbox: Sandbox, users: StepUsers) {
        isSandbox = true
        enclose = { launch in
            let user = try users.take()
            let mounts =
                (launch.reads + launch.programs).map { SandboxMount($0, isOptional: true) }
                + launch.writes.map { SandboxMount($0, .write) }
            let command = sandbox.command(
                SandboxPolicy(network: launch.purpose == .package ? .allowed : .denied), mounts: mounts, user: user,
                lifetime: .withParent, directory: launch.directory, launch.command)
            return (command, user)
        }
        release = { users.giveBack($0) }
        later = nil
    }

    /// Runs the command itself, without a sandbox.
    public static let none = ProgramSandbox { $0.command }

    /// The only function that starts a compiler, a workflow program or a reader of foreign files.
    ///
    /// - Throws: ``ExternalCommandError`` if it can't be started, `CancellationError` if the task is cancelled.
    package func run(
        _ launch: ProgramLaunch, environment: [String: String], deadline: Duration
    ) async throws -> ExternalCommandResult {
        let result =
            if let later {
                try await later.programSandbox.run(launch, environment: environment, deadline: deadline)
            } else {
                try await enclosed(launch, environment: environment, deadline: deadline)
            }
        await afterEnd?(result)
        return result
    }

    private func enclosed(
        _ launch: ProgramLaunch, environment: [String: String], deadline: Duration
    ) async throws -> ExternalCommandResult {
        let (command, user) = try enclose(launch)
        defer { release(user) }
        guard let executable = command.first else { throw CancellationError() }
        var environment = environment
        if isSandbox {
            environment["HOME"] = Sandbox.hasMounts ? Sandbox.Place.home : environment["HOME"]
            environment["TMPDIR"] = Sandbox.hasMounts ? Sandbox.Place.temporary : environment["TMPDIR"]
            environment.merge(Sandbox.linkerPath(ProcessInfo.processInfo.environment)) { own, _ in own }
        }
        try await own(launch.writes, as: user)
        if user != nil { for folder in launch.reads { try Ownership.open(folder) } }
        var result: ExternalCommandResult
        do {
            var tool = ExternalCommand(
                executable, Array(command.dropFirst()), in: launch.directory, environment: environment,
                deadline: deadline, outputLimit: launch.outputLimit)
            tool.input = launch.input
            result = try await tool.run()
        } catch {
            try? await own(launch.writes, as: user.map { _ in .daemon })
            throw error
        }
        // From here on the written files belong to the daemon: a later command with the same user can't change them.
        try await own(launch.writes, as: user.map { _ in .daemon })
        // A sandbox reports a signal as a shell does.
        if isSandbox, case .exited(let code) = result.ending, (129..<160).contains(code) {
            result.ending = .signal(code - 128)
        }
        return result
    }

    private func own(_ folders: [String], as user: StepUser?) async throws {
        guard let user else { return }
        try await onOwnThread { for folder in folders { try Ownership.give(folder, to: user) } }
    }
}
