import Pipeline
package import SystemPackage

/// Everything that is needed to start a command.
package struct StepCommand: Sendable {
    /// The program and its arguments, at least one.
    package var arguments: [String]
    /// The folder to run in, as the command sees it.
    package var workingDirectory: FilePath
    /// All environment variables.
    package var environment: [String: String]
    /// Files that appear in ``secretsFolder``. Only the command can read them, and they are never on disk.
    package var secrets: [SecretFile] = []
    /// The path of the folder with ``secrets``, as the command sees it.
    package var secretsFolder: FilePath = "/run/secrets"
    /// The limits of each of its processes.
    package var limits = ProcessLimits()
    /// Whether its input and output are a pseudo-terminal.
    package var hasTerminal = false
    /// Its control group; nil without control groups.
    package var group: ControlGroup?

    package init(
        arguments: [String], workingDirectory: FilePath, environment: [String: String], secrets: [SecretFile] = [],
        limits: ProcessLimits = ProcessLimits(), hasTerminal: Bool = false
    ) {
        self.arguments = arguments
        self.workingDirectory = workingDirectory
        self.environment = environment
        self.secrets = secrets
        self.limits = limits
        self.hasTerminal = hasTerminal
    }
}

/// Limits that the kernel applies to each process (setrlimit(2)); 0 means no limit.
package struct ProcessLimits: Sendable, Equatable {
    /// In seconds.
    package var cpuTime: UInt64 = 0
    /// Maximum size of a file that is written, in bytes.
    package var fileSize: UInt64 = 0
    /// Bytes of memory that is neither shared nor mapped from a file.
    package var data: UInt64 = 0
    /// Number of processes of the step's user.
    package var processes: UInt64 = 0
    /// Number of open files.
    package var openFiles: UInt64 = 0

    package init(
        cpuTime: UInt64 = 0, fileSize: UInt64 = 0, data: UInt64 = 0, processes: UInt64 = 0, openFiles: UInt64 = 0
    ) {
        self.cpuTime = cpuTime
        self.fileSize = fileSize
        self.data = data
        self.processes = processes
        self.openFiles = openFiles
    }
}

extension StepCommand {
    /// Encodes the request to a supervisor: `struct launch` of stepinit, then its texts and secrets.
    ///
    /// - Throws: ``StepProcessProblem/nulByte``.
    func launch(grace: Duration) throws -> [UInt8] {
        var texts: [UInt8] = []
        texts.reserveCapacity(2_048)
        var ends = 0
        func end() {
            texts.append(0)
            ends += 1
        }
        for text in [workingDirectory.string, secretsFolder.string] + arguments {
            texts += text.utf8
            end()
        }
        for (name, value) in environment {
            texts += name.utf8
            texts.append(UInt8(ascii: "="))
            texts += value.utf8
            end()
        }
        for secret in secrets {
            texts += secret.name.utf8
            end()
        }
        // One search over all texts is enough, and each of them is short.
        guard texts.count(where: { $0 == 0 }) == ends else { throw StepProcessProblem.nulByte }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(64 + texts.count)
        func append(_ number: some FixedWidthInteger) { withUnsafeBytes(of: number) { bytes += $0 } }
        append(UInt32(texts.count))
        append(UInt32(arguments.count))
        append(UInt32(environment.count))
        append(UInt32(clamping: Int(grace / .milliseconds(1))))
        // A requested limit is hard, so the step can't raise it; the default is only a soft limit.
        let flags: [(Bool, UInt32)] = [(hasTerminal, 1), (limits.openFiles != 0, 2)]
        append(flags.reduce(UInt32(0)) { $0 | ($1.0 ? $1.1 : 0) })
        append(UInt32(secrets.count))
        append(limits.openFiles == 0 ? UInt64(OpenFiles.inherited) : limits.openFiles)
        for limit in [limits.cpuTime, limits.fileSize, limits.data, limits.processes] { append(limit) }
        bytes += texts
        for secret in secrets {
            append(UInt32(secret.bytes.count))
            bytes += secret.bytes
        }
        return bytes
    }
}
