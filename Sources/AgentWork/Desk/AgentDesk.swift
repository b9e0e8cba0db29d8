package import Engine
import Foundation
package import MCP
import SystemPackage
import Sandbox
import Synchronization
package import Pipeline
import SystemCalls

/// What an agent finds beside its workspace: its prompt and files, the remarks of people while it works, pipectl's own
/// tools, and the way to the hosts that it may reach.
///
/// It is a folder that the agent sees read-only, with two sockets that only the agent's sandbox has. Whoever can connect
/// to them is the agent of this one run; no other token is needed.
package final class AgentDesk: Sendable {
    /// What is laid on it.
    package struct Setting: Sendable {
        /// On standard input of the agent, and in a file; nil for a reviewer, who is prompted as in every review.
        package var prompt: String?
        /// Names and contents of the files that came with the task.
        package var files: [(name: String, bytes: [UInt8])] = []
        /// The hosts that may be reached.
        package var hosts: [AllowedHost] = []
        /// Where they are.
        package var names = HostNames.machine
        /// The tools that the agent is offered; nil for none.
        package var tools: Server?
        /// The remarks with greater numbers than this one; nil if none can come.
        package var remarks: (@Sendable (_ after: Int) async -> [AgentRemark])?
        /// The newest remark that is in the prompt.
        package var lastRemark = 0
        /// More variables of the agent.
        package var variables: [String: String] = [:]

        package init() {}
    }

    /// What the agent left there.
    package struct Yield: Sendable, Equatable {
        /// What it printed on standard output; nil if it is too long or can't be read.
        package var answer: [UInt8]?
        /// What it wrote to `$PIPECTL_TASK_USAGE`; nil if there is no such file of a few KiB.
        package var usage: [UInt8]?
    }

    /// The longest answer, in bytes.
    package static let answerBytes = 8 << 20
    /// The longest file of what was used, in bytes.
    static let usageBytes = 4 << 10

    static let name = "agent"
    private static let (tools, hosts, remarks, prompt, files, configuration) = (
        "tools", "hosts", "remarks.jsonl", "prompt.md", "files", "mcp.json"
    )
    /// How often new remarks are looked for.
    private static let pause = Duration.seconds(1)

    /// The path of the file of remarks, as an agent at this place sees it.
    package static func remarksFile(at place: LocalPlace) -> String { "\(folders(at: place).seen)/\(remarks)" }
    /// The path of the folder with the task's files, as an agent at this place sees it.
    package static func filesFolder(at place: LocalPlace) -> String { "\(folders(at: place).seen)/\(files)" }

    private static func folders(at place: LocalPlace) -> (folder: String, seen: String) {
        let folder = "\(LocalPlace.shown(in: place.folder.string))/\(name)"
        return (folder, isMounted(place) ? "\(Sandbox.Place.shown)/\(name)" : folder)
    }

    private static func isMounted(_ place: LocalPlace) -> Bool { place.runSandbox != nil && Sandbox.hasMounts }

    let setting: Setting
    /// The folder as this machine sees it, and as the agent does.
    private let folder: String
    private let seen: String
    /// The path of `stepinit` as the agent sees it.
    private let stepInit: String
    private let toolSocket: StreamSocket?
    private let hostSocket: StreamSocket?

    private struct State {
        var output: (@Sendable (UnsafeRawBufferPointer) -> Void)?
        var refusals: [HostRefusal] = []
        var left = Yield()
        /// The newest remark that is in the prompt or in the file.
        var lastRemark = 0
    }

    private let state = Mutex(State())

    /// Makes the folder and its sockets. No step of the run may have started.
    ///
    /// - Throws: Errors of the disk.
    package init(_ setting: Setting, at place: LocalPlace) throws {
        self.setting = setting
        (folder, seen) = Self.folders(at: place)
        stepInit = Self.isMounted(place) ? Sandbox.Place.stepInit : place.stepInit.string
        try FileManager.default.createDirectory(
            atPath: "\(folder)/\(Self.files)", withIntermediateDirectories: true)
        // The agent may be another user, whatever the umask of this process.
        for path in [folder, "\(folder)/\(Self.files)"] {
            guard chmod(path, 0o755) == 0 else { throw SystemFailure("chmod") }
        }
        if let prompt = setting.prompt {
            try SmallFile.write(prompt.utf8, to: "\(folder)/\(Self.prompt)", isForAll: true)
        }
        for file in setting.files {
            try SmallFile.write(file.bytes, to: "\(folder)/\(Self.files)/\(file.name)", isForAll: true)
        }
        if setting.remarks != nil {
            try SmallFile.write([UInt8](), to: "\(folder)/\(Self.remarks)", isForAll: true)
        }
        toolSocket = try setting.tools == nil ? nil : DeskSocket.listening(in: folder, name: Self.tools)
        hostSocket = try setting.hosts.isEmpty ? nil : Self.hostSocket(in: folder)
        if setting.tools != nil {
            let command: JSON = [
                "mcpServers": [
                    "pipectl": [
                        "command": .string(stepInit), "args": ["--connect", .string("\(seen)/\(Self.tools)")],
                    ]
                ]
            ]
            try SmallFile.write(command.bytes, to: "\(folder)/\(Self.configuration)", isForAll: true)
        }
    }

    private static func hostSocket(in folder: String) throws -> StreamSocket {
        #if os(Linux)
            return try DeskSocket.listening(in: folder, name: hosts)
        #else
            // sandbox-exec has no loopback of its own: the agent may connect to this one port.
            let socket = try StreamSocket.make(family: AF_INET)
            let code = socket.bind(to: NetworkTarget(.four([127, 0, 0, 1]), port: 0))
            guard code == 0 else { throw SystemFailure("bind", code) }
            try socket.listen()
            return socket
        #endif
    }

    /// The hosts that were refused, in the order in which the agent asked for them.
    package var refusals: [HostRefusal] { state.withLock { $0.refusals } }
    /// The newest remark that the agent could read.
    package var lastRemark: Int { max(setting.lastRemark, state.withLock { $0.lastRemark }) }
    /// What the agent left.
    package var left: Yield { state.withLock { $0.left } }

    /// What the agent may connect to, on machines where its sandbox must be told.
    var reachable: Set<String> {
        var reachable: Set<String> = []
        if toolSocket != nil { reachable.insert("\(folder)/\(Self.tools)") }
        if let port = hostSocket?.port { reachable.insert("localhost:\(port)") }
        return reachable
    }

    // MARK: The agent

    /// The variables of the agent.
    var variables: [String: String] {
        var variables = setting.variables
        if setting.prompt != nil { variables["PIPECTL_TASK_PROMPT"] = "\(seen)/\(Self.prompt)" }
        if !setting.files.isEmpty { variables["PIPECTL_TASK_FILES"] = "\(seen)/\(Self.files)" }
        if setting.remarks != nil { variables["PIPECTL_TASK_REMARKS"] = "\(seen)/\(Self.remarks)" }
        if toolSocket != nil { variables["PIPECTL_TASK_MCP"] = "\(seen)/\(Self.configuration)" }
        if let port = hostSocket?.port {
            for name in ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"] {
                variables[name] = "http://127.0.0.1:\(port)"
            }
        }
        return variables
    }

    /// The names of files in the folder in which an attempt publishes.
    static let (answerFile, usageFile) = ("answer", "usage.json")

    /// The words that start the agent, for a line or for words of a step.
    func words(for line: String) -> [String] { wayOut + ["/bin/sh", "-c", Self.script, line] }
    func words(for command: [String]) -> [String] {
        wayOut + ["/bin/sh", "-c", Self.usage + "\nexec \"$0\" \"$@\""] + command
    }

    private var wayOut: [String] {
        guard hostSocket != nil, hostSocket?.port == nil else { return [] }
        return [stepInit, "--forward", "\(seen)/\(Self.hosts)", "--"]
    }

    private static let usage = "PIPECTL_TASK_USAGE=$PIPECTL_VALUES_OUT/\(usageFile)\nexport PIPECTL_TASK_USAGE"

    /// The output goes to the log and to a file, and the exit code is the agent's.
    private static let script = """
        \(usage)
        { rc=0; /bin/sh -ec "$0" < "$PIPECTL_TASK_PROMPT" || rc=$?; echo "$rc" > "$PIPECTL_VALUES_OUT/code"; } \
        | tee "$PIPECTL_VALUES_OUT/\(answerFile)"
        exit "$(cat "$PIPECTL_VALUES_OUT/code")"
        """

    /// Passes lines of ours to the log of the attempt that runs until ``attemptEnded(_:)``.
    func attemptBegins(_ output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void) {
        state.withLock { $0.output = output }
    }

    func attemptEnded(_ left: Yield) {
        state.withLock { state in
            state.output = nil
            state.left = left
        }
    }

    private func note(_ refusal: HostRefusal) {
        state.withLock { state in
            state.refusals.append(refusal)
            let line = Array("pipectl: no connection to \(refusal.host): \(refusal.reason)\n".utf8)
            line.withUnsafeBytes { state.output?($0) }
        }
    }

    // MARK: Serving

    /// Serves the sockets and passes remarks on while `body` runs.
    func serving<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) async -> Value {
        await withTaskGroup(of: Void.self) { group in
            if let hostSocket {
                let gate = HostGate(setting.hosts, names: setting.names) { self.note($0) }
                group.addTask { await gate.serve(hostSocket) }
            }
            if let toolSocket, let tools = setting.tools {
                group.addTask { await ToolService(server: tools).serve(toolSocket) }
            }
            if let remarks = setting.remarks {
                group.addTask { await self.passOn(remarks) }
            }
            let value = await body()
            group.cancelAll()
            return value
        }
    }

    private func passOn(_ remarks: @Sendable (Int) async -> [AgentRemark]) async {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var last = setting.lastRemark
        var content: [UInt8] = []
        while !Task.isCancelled {
            for remark in await remarks(last) where remark.number > last {
                last = remark.number
                guard let line = try? encoder.encode(remark), content.count + line.count < 4 << 20 else { continue }
                content += Array(line) + [UInt8(ascii: "\n")]
                // The file keeps its inode and only grows: a reader sees the new lines.
                do { try SmallFile.write(content, to: "\(folder)/\(Self.remarks)", isForAll: true) } catch { continue }
                state.withLock { $0.lastRemark = remark.number }
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
