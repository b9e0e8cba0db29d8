public import Foundation
import Pipeline

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// What encloses the steps of a box: bubblewrap on Linux, sandbox-exec on macOS.
///
/// ``find(stepInit:toolchain:readable:environment:)`` tries it once, on the real machine; whether it works can't be told
/// from versions and settings.
public struct Sandbox: Sendable {
    /// The path of the program that makes the sandbox.
    public let program: String
    /// `stepinit`, the first process in it.
    public let stepInit: String
    /// What every sandbox shows beside the system: the toolchain, what the box's owner named.
    public let readable: [String]
    /// The machine's settings in one folder; without it each is mounted by itself.
    public var settings: SettingsCopy?
    let systemParts = SystemParts()

    init(program: String, stepInit: String, readable: [String]) {
        self.program = program
        self.stepInit = stepInit
        self.readable = readable
    }

    /// Where things are in a sandbox; where there are no mounts, they are where they are on the box.
    public enum Place {
        public static let workspace = "/workspace"
        /// Not below /home: a user of the box may have any name, and a state folder there must stay usable.
        public static let home = "/sandbox/home"
        /// On disk, and the same for all steps of a run; /tmp is each sandbox's own, in memory.
        public static let temporary = "/var/tmp"
        /// What the run shows of itself, all below one mount.
        public static let shown = "/run/pipectl"
        public static let values = "/run/pipectl/values"
        public static let published = "/run/pipectl/published"
        public static let context = "/run/pipectl/context.json"
        /// The first process of the sandbox.
        public static let stepInit = "/run/stepinit"
        public static let secrets = "/run/secrets"
        public static let caches = "/caches"

        /// Folders in which a step may have put anything: nothing else may be mounted below them.
        public static let writable = [workspace, home, temporary]
    }

    /// Bytes of /tmp, at most.
    static let temporaryBytes = 1 << 30

    /// Processes and threads of a compiler or workflow program, at most.
    static let mostProcesses = 4_096

    /// Whether paths in a sandbox differ from those of the box.
    public static var hasMounts: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    /// Looks for the sandbox and starts a process in one.
    ///
    /// - Parameters:
    ///   - readable: Further folders that sandboxes show, read-only.
    ///   - toolchain: The Swift compiler's path; its toolchain is shown.
    ///   - environment: `PIPECTL_BWRAP` says where bubblewrap is; without it, `PATH` does.
    /// - Throws: ``SandboxProblem``: why there can be none here, and what to do.
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

    /// What is said when a process can't be started in one; nil when it can.
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

    /// What `stepinit` needs to be linked, and nothing else.
    package static func linkerPath(_ environment: [String: String]) -> [String: String] {
        environment.filter { $0.key == "LD_LIBRARY_PATH" }
    }

    package static var linkerPath: [String: String] { linkerPath(ProcessInfo.processInfo.environment) }

    private static func program(named name: String, path: String?) -> String? {
        let folders = (path ?? "").split(separator: ":").map(String.init) + ["/usr/bin", "/usr/local/bin", "/bin"]
        return folders.lazy.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The folder that holds `usr/bin/swiftc`, links resolved; nil when it is of the system.
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

    /// How long what is enclosed may live.
    public enum Lifetime: Sendable {
        /// Until its standard input closes: `stepinit` as the server of a run, which finds the entrances of so many
        /// control groups among its descriptors.
        case withSocket(groups: Int)
        /// Until it ends, or the thread that started it does.
        case withParent
        /// The same, and it has the terminal of the session that it is started in.
        case withTerminal
    }

    /// The words that start `words` in a sandbox; without words, `stepinit` as a server.
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

/// Why nothing can be enclosed on this machine, and what to do about it.
public struct SandboxProblem: Error, Sendable, CustomStringConvertible {
    public let description: String

    public init(_ description: String) { self.description = description }
}
