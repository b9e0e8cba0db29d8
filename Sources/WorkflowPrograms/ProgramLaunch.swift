import Concurrency
import Foundation
import Pipeline
public import Sandbox

/// One start of a compiler, a workflow program or a reader of foreign files, as a sandbox needs to know it.
///
/// All starts go through ``ProgramSandbox/run(_:environment:deadline:)``.
public struct ProgramLaunch: Sendable, Equatable {
    /// What the command is for.
    public enum Purpose: String, Sendable {
        /// `swiftc`, over files that someone else wrote.
        case compile
        /// `swift build`, which also fetches dependencies and runs the package's manifest.
        case package
        /// The same for what nobody has merged: without network, which a change must not have by its own word.
        case untrustedPackage
        /// The compiled program, asked which workflows there are.
        case describe
        /// The compiled program, asked for a plan.
        case plan
        /// A program of pipectl's own that reads foreign text from its standard input.
        case read
    }

    public var purpose: Purpose
    /// The program and its arguments, all paths absolute but those below ``directory``.
    public var command: [String]
    public var directory: String
    /// Folders that it writes to, besides nothing.
    public var writes: [String]
    /// Folders that it reads, besides the system's and the toolchain's.
    public var reads: [String]
    /// Programs of pipectl's own, which everybody may read already.
    public var programs: [String] = []
    /// What the command reads from its standard input.
    public var input: [UInt8] = []
    /// Bytes of output that are kept.
    public var outputLimit = 1 << 20

    public init(_ purpose: Purpose, _ command: [String], in directory: String, writes: [String], reads: [String]) {
        self.purpose = purpose
        self.command = command
        self.directory = directory
        self.writes = writes
        self.reads = reads
    }
}

/// What stands between the box and a compiler or program that works on foreign files.
public struct ProgramSandbox: Sendable {
    /// The command to start instead, and the user whom it becomes if that is another one.
    private let enclose: @Sendable (ProgramLaunch) throws -> (command: [String], user: StepUser?)
    private let isSandbox: Bool
    private let release: @Sendable (StepUser?) -> Void
    /// Stands for all of the above where it is looked for when it is first needed.
    private let later: LazyProgramSandbox?
    /// Called with each end before anything is concluded from it; a shutdown of the machine may have caused it.
    public var afterEnd: (@Sendable (ExternalCommandResult) async -> Void)?

    /// The one that `find` returns, asked for before the first start.
    public init(found find: @escaping @Sendable () async -> ProgramSandbox) {
        isSandbox = false
        enclose = { ($0.command, nil) }
        release = { _ in }
        later = LazyProgramSandbox(find)
    }

    /// A sandbox that starts another command; the ends of both must be alike.
    public init(wrap: @escaping @Sendable (ProgramLaunch) -> [String]) {
        isSandbox = false
        enclose = { (wrap($0), nil) }
        release = { _ in }
        later = nil
    }

    /// Each start in a sandbox of its own, which shows the launch's folders and nothing else of the box.
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

    /// No sandbox: the command as it is.
    public static let none = ProgramSandbox { $0.command }

    /// The only place that starts a compiler, a workflow program or a reader of foreign files.
    ///
    /// - Throws: ``ExternalCommandError`` when it can't be started, `CancellationError` when the task is cancelled.
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
            try? await own(launch.writes, as: user.map { _ in .box })
            throw error
        }
        // What it wrote is the box's from here on: nobody who may become this user later can change it.
        try await own(launch.writes, as: user.map { _ in .box })
        // Behind a sandbox a signal comes as a shell would give it.
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
