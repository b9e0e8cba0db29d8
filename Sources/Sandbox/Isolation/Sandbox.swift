public import Foundation
import Pipeline

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The program that isolates steps: bubblewrap on Linux, sandbox-exec on macOS.
///
/// ``find(stepInit:toolchain:readable:environment:)`` tries it once on the real machine, because versions and settings
/// don't tell whether it works.
public struct Sandbox: Sendable {
    /// The path of the program that makes the sandbox.
    public let program: String
    /// `stepinit`, the first process in the sandbox.
    public let stepInit: String
    /// Folders that every sandbox shows beside the system: the toolchain, and those in the daemon's settings.
    public let readable: [String]
    /// A copy of the machine's settings in one folder; without it each settings file is mounted separately.
    public var settings: SettingsCopy?
    let systemParts = SystemParts()

    init(program: String, stepInit: String, readable: [String]) {
        self.program = program
        self.stepInit = stepInit
        self.readable = readable
    }

    /// Paths in a sandbox. Without mounts, they are the paths on the machine.
    public enum Place {
        /// The run's workspace.
        public static let workspace = "/workspace"
        /// Not below /home: a user of the machine may have any name, and a state folder there must stay usable.
        public static let home = "/sandbox/home"
        /// On disk, and shared by all steps of a run; /tmp belongs to each sandbox alone and is in memory.
        public static let temporary = "/var/tmp"
        /// The files that the run shows to its steps, all below one mount.
        public static let shown = "/run/pipectl"
        /// The folder for values that steps set.
        public static let values = "/run/pipectl/values"
        /// The folder for values that earlier steps set.
        public static let published = "/run/pipectl/published"
        /// The file with the run's context.
        public static let context = "/run/pipectl/context.json"
        /// The first process of the sandbox.
        public static let stepInit = "/run/stepinit"
        /// The folder with the step's secret files.
        public static let secrets = "/run/secrets"
        /// The folder with the step's caches.
        public static let caches = "/caches"

        /// Folders in which a step may have created anything: nothing else may be mounted below them.
        public static let writable = [workspace, home, temporary]
    }

    /// Maximum size of /tmp in bytes.
    static let temporaryBytes = 1 << 30

    /// Maximum number of processes and threads of a compiler or workflow program.
    static let mostProcesses = 4_096

    /// Whether paths in a sandbox differ from those on the machine.
    public static var hasMounts: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    /// Finds the sandbox program and starts a process in a sandbox to try it.
    ///
    /// - Parameters:
    ///   - readable: Further folders that sandboxes show, read-only.
    ///   - toolchain: The Swift compiler's path; its toolchain is shown.
    ///   - environment: `PIPECTL_BWRAP` is the path of bubblewrap; without it, `PATH` is searched.
    /// - Throws: ``SandboxProblem`` if there is no sandbox, with the reason and the next step.
    public static func find(
        stepInit: String, toolchain: String?, readable: [String] = [],
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) async throws -> Sandbox {
        let folders = (toolchain.flatMap(toolchainFolder).map { [$0] } ?? []) + readable
        #if os(Linux)
            let chosen = environment["PIPECTL_BWRAP"].flatMap { $0.isEmpty ? nil : $0 }
            guard let program = chosen ?? program(named: "bwrap", path: environment["PATH"]) else {
                throw SandboxProblem(
                    "bubblewrap is not installed. Install the package bubblewrap (apt install bubblewrap), then start again."
                )
            }
        #else
            let program = "/usr/bin/sandbox-exec"
            guard access(program, X_OK) == 0 else { throw SandboxProblem("\(program) is missing on this macOS") }
        #endif
        let sandbox = Sandbox(program: program, stepInit: stepInit, readable: folders)
        if let said = try await sandbox.problem(environment) {
            throw SandboxProblem(
                "a sandbox can't be created here; \(program) reported: \(said). User namespaces may be disabled: enable them "
                    + "(sysctl kernel.unprivileged_userns_clone=1, kernel.apparmor_restrict_unprivileged_userns=0, "
                    + "user.max_user_namespaces above 0), or run pipectl as root, which does not need them.")
        }
        return sandbox
    }

    /// Why a process can't be started in a sandbox; nil if it can.
    private func problem(_ environment: [String: String]) async throws -> String? {
        let users = StepUsers()
        let trial = command(
            SandboxPolicy(), mounts: [], user: try users.take(), lifetime: .withParent, directory: "/",
            ["/bin/sh", "-c", "exit 0"])
        let result = try await ExternalCommand(
            trial[0], Array(trial.dropFirst()), in: "/", environment: Sandbox.linkerPath(environment),
            deadline: .seconds(20)
        ).run()
        guard !result.succeeded else { return nil }
        return result.text.split(whereSeparator: \.isNewline).last.map(String.init) ?? "nothing"
    }

    /// The variables that the linker needs to start `stepinit`, and nothing else.
    package static func linkerPath(_ environment: [String: String]) -> [String: String] {
        environment.filter { $0.key == "LD_LIBRARY_PATH" }
    }

    /// The same variables of this process's own environment.
    package static var linkerPath: [String: String] { linkerPath(ProcessInfo.processInfo.environment) }

    private static func program(named name: String, path: String?) -> String? {
        let folders = (path ?? "").split(separator: ":").map(String.init) + ["/usr/bin", "/usr/local/bin", "/bin"]
        return folders.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The folder that contains `usr/bin/swiftc`, with links resolved; nil if it belongs to the system.
    static func toolchainFolder(_ swiftc: String) -> String? {
        guard let resolved = realpath(swiftc, nil) else { return nil }
        defer { free(resolved) }
        var parts = String(cString: resolved).split(separator: "/").map(String.init)
        parts.removeLast()
        if parts.last == "bin" { parts.removeLast() }
        if parts.last == "usr" { parts.removeLast() }
        let folder = "/" + parts.joined(separator: "/")
        return folder == "/" || folder == "/usr" ? nil : folder
    }

    /// How long a sandbox lives.
    public enum Lifetime: Sendable {
        /// Until its standard input closes: `stepinit` serves a run, and finds this number of control group
        /// descriptors.
        case withSocket(groups: Int)
        /// Until its process ends, or the thread that started it does.
        case withParent
        /// Like `withParent`, and the process has the terminal of its session.
        case withTerminal
    }

    /// The command that starts `words` in a sandbox; without words, it starts `stepinit` as a server.
    public func command(
        _ policy: SandboxPolicy, mounts: [SandboxMount], user: StepUser?, lifetime: Lifetime, directory: String,
        _ words: [String]
    ) -> [String] {
        #if os(Linux)
            return SandboxWords(sandbox: self, policy: policy, mounts: mounts, user: user).command(
                lifetime: lifetime, directory: directory, words)
        #else
            return SandboxExec(sandbox: self, policy: policy, mounts: mounts, user: user).command(words)
        #endif
    }
}

/// Why no sandbox can be used on this machine, and the next step.
public struct SandboxProblem: Error, Sendable, CustomStringConvertible {
    /// The reason and the next step.
    public let description: String

    public init(_ description: String) { self.description = description }
}
