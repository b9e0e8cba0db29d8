import TestBasics
import Concurrency
import Foundation
import Pipeline
import Results
import Sandbox
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Engine

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A place that shares no folder with this process: `machine.py` owns the workspace, and whatever comes from there or
/// goes there travels over a socket.
struct OtherMachine: RunPlace {
    /// A tar file with the files of the commit.
    let commit: String
    /// A folder for the sockets and the output of the machines.
    let folder: String
    /// Called with the process that is the machine.
    var begun: @Sendable (Child) -> Void = { _ in }

    static let program = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "machine.py").path
    static let isPossible =
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/python3")
        }

    func open<Value: Sendable>(
        for plan: Plan, _ body: @escaping @Sendable (any OpenPlace) async -> Value
    ) async throws -> (value: Value, isAllEnded: Bool) {
        let machine = Machine(folder: folder, commit: commit, begun: begun)
        try await onOwnThread { try machine.begin() }
        let value = await body(OpenOtherMachine(machine: machine, begunAt: machine.begunAt, plan: plan))
        let isAllEnded = (try? await onOwnThread { machine.end() }) ?? false
        return (value, isAllEnded)
    }
}

/// One message, with the bytes that follow it.
private struct Message {
    var fields: [String: Any]
    var content: [UInt8] = []

    subscript<Value>(_ name: String) -> Value? { fields[name] as? Value }
}

/// The process that is the machine. A machine that was lost is replaced by a new one with the same commit.
final class Machine: Sendable {
    private let folder: String
    private let commit: String
    private let begun: @Sendable (Child) -> Void
    private let state = Mutex<(socket: String, workspace: String, begunAt: Date)>(("", "", .distantPast))

    init(folder: String, commit: String, begun: @escaping @Sendable (Child) -> Void) {
        (self.folder, self.commit, self.begun) = (folder, commit, begun)
    }

    var workspace: String { state.withLock { $0.workspace } }
    var begunAt: Date { state.withLock { $0.begunAt } }

    func begin() throws {
        // The path of a socket has at most 107 bytes.
        let socket = NSTemporaryDirectory() + "\(UInt64.random(in: .min ... .max)).sock"
        let child = try Child(
            ["python3", OtherMachine.program, socket], in: folder, environment: ProcessInfo.processInfo.environment,
            output: "\(folder)/machine-\(UInt64.random(in: .min ... .max)).")
        begun(child)
        let limit = ContinuousClock.now + .seconds(20)
        // The file exists before the machine listens to it.
        while (try? Connection(to: socket)) == nil {
            guard ContinuousClock.now < limit else { throw PlaceProblem(reason: "no machine", mayHaveActed: false) }
            usleep(2_000)
        }
        state.withLock { $0.socket = socket }
        let files = FileManager.default.contents(atPath: commit) ?? Data()
        let answer = try ask(["do": "prepare"], [UInt8](files))
        state.withLock {
            $0.workspace = answer["workspace"] ?? ""
            $0.begunAt = Date(timeIntervalSince1970: answer["begunAt"] ?? 0)
        }
    }

    /// Ends the machine; returns whether it says that all processes have ended.
    func end() -> Bool {
        defer { unlink(state.withLock { $0.socket }) }
        return (try? ask(["do": "end"]))?["isAllEnded"] ?? false
    }

    fileprivate func connect() throws -> Connection {
        try Connection(to: state.withLock { $0.socket })
    }

    /// Sends a request and waits for the answer.
    fileprivate func ask(_ fields: [String: Any], _ content: [UInt8] = []) throws -> Message {
        let connection = try connect()
        try connection.send(fields, content)
        guard let answer = connection.receive() else {
            throw PlaceProblem(reason: "the machine was lost", mayHaveActed: true)
        }
        guard let code: Int32 = answer["error"] else { return answer }
        throw code == 0
            ? WorkspaceFileProblem(path: fields["path"] as? String ?? ".", reason: answer["reason"] ?? "")
            : WorkspaceFileProblem(path: fields["path"] as? String ?? ".", of: Errno(rawValue: code))
    }
}

private func reach(_ file: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    connect(file, address, length)
}

private func sendSome(_ file: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if os(Linux)
        // A machine that is gone must not end this process by a signal.
        send(file, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #else
        send(file, bytes.baseAddress, bytes.count, 0)
    #endif
}

/// A connection to a machine.
private final class Connection: Sendable {
    private let file: Int32
    private let left = Mutex<[UInt8]>([])

    init(to path: String) throws {
        #if os(Linux)
            file = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            file = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                reach(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // `deinit` closes the file then, too: all properties have their values.
        guard code == 0 else { throw PlaceProblem(reason: "the machine can't be reached", mayHaveActed: false) }
    }

    deinit { closeFile(file) }

    func send(_ fields: [String: Any], _ content: [UInt8] = []) throws {
        var fields = fields
        fields["bytes"] = content.count
        let bytes = [UInt8](try JSONSerialization.data(withJSONObject: fields)) + [0x0A] + content
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { sendSome(file, $0) }
            guard count > 0 else { throw PlaceProblem(reason: "the machine was lost", mayHaveActed: true) }
            sent += count
        }
    }

    /// Nil when the machine is gone.
    func receive() -> Message? {
        left.withLock { left in
            func fill() -> Bool {
                var piece = [UInt8](repeating: 0, count: 1 << 16)
                let count = recv(file, &piece, piece.count, 0)
                guard count > 0 else { return false }
                left += piece[..<count]
                return true
            }
            while !left.contains(0x0A) { guard fill() else { return nil } }
            let end = left.firstIndex(of: 0x0A) ?? 0
            guard let fields = try? JSONSerialization.jsonObject(with: Data(left[..<end])) as? [String: Any] else {
                return nil
            }
            left.removeFirst(end + 1)
            let bytes = fields["bytes"] as? Int ?? 0
            while left.count < bytes { guard fill() else { return nil } }
            defer { left.removeFirst(bytes) }
            return Message(fields: fields, content: Array(left[..<bytes]))
        }
    }
}

/// The machine while the steps of a run are run on it.
struct OpenOtherMachine: OpenPlace {
    let machine: Machine
    let begunAt: Date
    let plan: Plan

    func run(
        _ attempt: StepAttempt, stop: StopSignal, output: @escaping @Sendable (UnsafeRawBufferPointer) -> Void
    ) async throws -> AttemptEnd {
        try await withTaskCancellationHandler {
            try await onOwnThread {
                do { return try runHere(attempt, stop, output) } catch let problem as PlaceProblem {
                    // Another attempt finds another machine.
                    try machine.begin()
                    throw problem
                }
            }
        } onCancel: {
            stop.stop(StopRequest(.cancelled, reason: "cancelled"))
        }
    }

    private func runHere(
        _ attempt: StepAttempt, _ stop: StopSignal, _ output: (UnsafeRawBufferPointer) -> Void
    ) throws -> AttemptEnd {
        if let request = stop.request { return AttemptEnd(process: ProcessEnd(stopped: request)) }
        let connection = try machine.connect()
        try connection.send(order(attempt))
        let own = StopSignal()
        let handler = stop.onStop { own.stop($0) }
        defer { stop.removeHandler(handler) }
        _ = own.onStop { _ in try? connection.send(["do": "end"]) }
        let timer = DispatchSource.makeTimerSource()
        timer.schedule(deadline: .now() + attempt.step.timeout)
        timer.setEventHandler {
            own.stop(
                StopRequest(
                    .timedOut, reason: "it took longer than \(Duration.seconds(attempt.step.timeout).inWords)"))
        }
        timer.resume()
        defer { timer.cancel() }
        var bytes = 0
        while let message = connection.receive() {
            if message["output"] == true {
                message.content.withUnsafeBytes(output)
                bytes += message.content.count
                if let limit = attempt.step.limits.output, bytes > limit {
                    own.stop(
                        StopRequest(.limitReached, reason: LimitBreach.output(limit, attempt.step.name).description))
                }
                continue
            }
            if let code: Int32 = message["unstarted"] { throw StepProcessProblem.command(Errno(rawValue: code)) }
            return end(message, attempt, own.request)
        }
        throw PlaceProblem(reason: "the machine was lost", mayHaveActed: true)
    }

    private func order(_ attempt: StepAttempt) -> [String: Any] {
        var environment = attempt.environment
        var files: [[String: String]] = []
        for secret in attempt.secrets {
            switch secret.content {
            case .text(let value): environment[secret.variable] = value
            case .file(let file):
                files.append([
                    "name": file.name, "variable": secret.variable, "content": Data(file.bytes).base64EncodedString(),
                ])
            }
        }
        let command =
            switch attempt.step.action {
            case .shell(let line): ["/bin/sh", "-ec", line]
            case .command(let words): words
            case .closure, .approval, .release, .publish: ["false"]
            }
        let limits = attempt.step.limits
        return [
            "do": "run", "command": command, "environment": environment, "secrets": files, "label": attempt.label,
            "publishes": attempt.publishes, "folder": attempt.step.workingDirectory ?? ".",
            "grace": attempt.grace / .seconds(1), "cpu": Int(limits.cpuTime ?? 0), "fileSize": limits.fileSize ?? 0,
        ]
    }

    private func end(_ message: Message, _ attempt: StepAttempt, _ request: StopRequest?) -> AttemptEnd {
        let status: Int32 = message["status"] ?? 0
        var end = ProcessEnd(wasKilled: message["wasKilled"] ?? false)
        if status < 0 { end.signal = -status } else { end.exitCode = status }
        if message["wasAsked"] == true { end.stopped = request }
        let cause = LimitBreach.cause(of: end, limits: attempt.step.limits, usage: nil, step: attempt.step.name)
        return AttemptEnd(process: end, limit: end.stopped == nil ? cause?.description : nil)
    }

    func files(_ folder: PlaceFolder, of step: PlannedStep) -> any FileSource {
        OtherFiles(machine: machine, folder: folder)
    }

    func add(value name: String, from file: FilePath) throws {
        let content = FileManager.default.contents(atPath: file.string) ?? Data()
        _ = try machine.ask(["do": "value", "name": name], [UInt8](content))
    }

    func discardPublished(by attempt: StepAttempt) {
        _ = try? machine.ask(["do": "remove", "label": attempt.label])
    }

    func restore(_ outputs: StoredOutputs, inPlaceOf stale: StaleOutputs) throws {
        let target = OtherFiles(machine: machine, folder: .workspace)
        try OutputPack.unpack(outputs.path, sha256: outputs.sha256, inPlaceOf: stale, with: target)
    }

    func workspacePaths(of step: PlannedStep) -> [FilePath] { [FilePath(machine.workspace)] }
}

/// A folder of the machine.
private struct OtherFiles: FileSource, OutputTarget {
    let machine: Machine
    let folder: PlaceFolder

    private func fields(_ name: String, _ more: [String: Any] = [:]) -> [String: Any] {
        var fields = more
        fields["do"] = name
        if case .published(let label) = folder { fields["label"] = label }
        return fields
    }

    func search(_ globs: [Glob], _ limits: FileLimits, findsLinks: Bool) -> FileSearch {
        var search = FileSearch()
        do {
            for (match, kind) in try entries() where globs.contains(where: { $0.matches(match.path) }) {
                switch kind {
                case S_IFREG: search.matches.append(match)
                case S_IFDIR: search.emptyFolders.append(match.path)
                case S_IFLNK where findsLinks:
                    var link = match
                    link.bytes = match.target?.utf8.count ?? 0
                    search.matches.append(link)
                default: search.report("\(match.path) is a link and was skipped; copy the file itself")
                }
            }
        } catch {
            search.gap = error as? WorkspaceFileProblem ?? WorkspaceFileProblem(path: ".", reason: "\(error)")
        }
        search.matches.sort { $0.path < $1.path }
        search.emptyFolders.sort()
        return search
    }

    private func entries() throws -> [(match: FileMatch, kind: mode_t)] {
        let list: [[String: Any]] = try machine.ask(fields("search"))["entries"] ?? []
        return list.compactMap { entry in
            guard let path = entry["path"] as? String, let kind = entry["kind"] as? UInt32,
                let bytes = entry["bytes"] as? Int, let inode = entry["inode"] as? UInt64,
                let changed = entry["changed"] as? Int, let mode = entry["mode"] as? UInt32
            else { return nil }
            let stamp = FileStamp(
                inode: inode, seconds: changed / 1_000_000_000, nanoseconds: changed % 1_000_000_000, bytes: bytes)
            let match = FileMatch(
                path: path, target: entry["target"] as? String, bytes: bytes, isExecutable: mode & 0o100 != 0,
                stamp: stamp)
            return (match, kind)
        }
    }

    func read(_ path: String, atMost limit: Int, _ keep: (UnsafeRawBufferPointer) throws -> Void) throws -> Int {
        let content = try machine.ask(fields("read", ["path": path])).content
        guard content.count <= limit else { throw WorkspaceFileProblem(path: path, reason: "it is too large") }
        try content.withUnsafeBytes { if !$0.isEmpty { try keep($0) } }
        return content.count
    }

    func put(_ path: String, isExecutable: Bool, _ next: () throws -> [UInt8]?) throws {
        var content: [UInt8] = []
        while let piece = try next() { content += piece }
        _ = try machine.ask(fields("write", ["path": path, "kind": "file", "isExecutable": isExecutable]), content)
    }

    func putLink(_ path: String, to target: String) throws {
        _ = try machine.ask(fields("write", ["path": path, "kind": "link"]), Array(target.utf8))
    }

    func makeFolder(_ path: String) throws {
        _ = try machine.ask(fields("write", ["path": path, "kind": "folder"]))
    }

    func clear(_ stale: StaleOutputs, but kept: Set<String>) throws {
        for (match, _) in try entries()
        where !kept.contains(match.path) && stale.contains(match.path, changedAt: match.stamp.date) {
            _ = try machine.ask(fields("remove", ["path": match.path]))
        }
    }
}
