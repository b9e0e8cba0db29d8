/// One start of the compiler or of a workflow program, as a sandbox needs to know it.
///
/// All starts go through ``Confinement/run(_:environment:deadline:)``.
public struct ProgramLaunch: Sendable, Equatable {
    /// What the command is for.
    public enum Purpose: String, Sendable {
        /// `swiftc`, over files that someone else wrote.
        case compile
        /// `swift build`, which also fetches dependencies and runs the package's manifest.
        case package
        /// The compiled program, asked which workflows there are.
        case describe
        /// The compiled program, asked for a plan.
        case plan
    }

    public var purpose: Purpose
    /// The program and its arguments, all paths absolute but those below ``directory``.
    public var command: [String]
    public var directory: String
    /// Folders that it writes to, besides nothing.
    public var writes: [String]
    /// Folders that it reads, besides the system's and the toolchain's.
    public var reads: [String]

    public init(_ purpose: Purpose, _ command: [String], in directory: String, writes: [String], reads: [String]) {
        self.purpose = purpose
        self.command = command
        self.directory = directory
        self.writes = writes
        self.reads = reads
    }
}

/// What stands between the box and a compiler or program that works on foreign files.
public struct Confinement: Sendable {
    /// The command to start instead: the same one behind a sandbox, or the same one.
    public var wrap: @Sendable (ProgramLaunch) -> [String]

    public init(wrap: @escaping @Sendable (ProgramLaunch) -> [String]) { self.wrap = wrap }

    /// No sandbox: the command as it is.
    public static let none = Confinement { $0.command }

    /// The only place that starts a compiler or a workflow program.
    func run(
        _ launch: ProgramLaunch, environment: [String: String], deadline: Duration
    ) async throws -> ToolResult {
        let command = wrap(launch)
        guard let executable = command.first else { throw CancellationError() }
        return try await Tool(
            executable, Array(command.dropFirst()), in: launch.directory, environment: environment,
            deadline: deadline, outputLimit: 1 << 20
        ).run()
    }
}
