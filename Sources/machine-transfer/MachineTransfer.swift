import Concurrency
import Results
import Foundation
import Git
import MachineProtocol
import Machines
import Sandbox

/// Measures what travels to another machine, whose agent is a child of this process: `machine-transfer AGENT FOLDER MIB`.
/// Prints lines `MEASURE VALUE`. FOLDER is new, and keeps the files `outputs-1` and `outputs-2`.
@main struct MachineTransfer {
    let agent: String
    let folder: String
    let mebibytes: Int

    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 4, let mebibytes = Int(words[3]), mebibytes > 0 else {
            FileHandle.standardError.write(Data("usage: machine-transfer AGENT FOLDER MIB\n".utf8))
            exit(2)
        }
        let transfer = MachineTransfer(agent: words[1], folder: words[2], mebibytes: mebibytes)
        try await transfer.measureCommits()
        try await transfer.measureOutputs()
    }

    private func connect() async throws -> MachineClient {
        try await MachineClient.connect(
            LocalLink([agent, "--folder", "\(folder)/machine"]), machine: "other", lifetime: .seconds(1_800))
    }

    private func seconds(_ body: () async throws -> Void) async throws -> Double {
        try await ContinuousClock().measure { try await body() } / .seconds(1)
    }

    // MARK: Commits

    /// 2,000 files of 8 KiB, and one line of one of them.
    private func measureCommits() async throws {
        let repository = "\(folder)/repository"
        try FileManager.default.createDirectory(atPath: repository, withIntermediateDirectories: true)
        try await git("init", "-q")
        for number in 0..<2_000 {
            let place = "\(repository)/part\(number % 40)"
            try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
            let lines = (0..<128).map { "line \($0) of \(number): \((number &* 7_919 &+ $0 &* 104_729) % 1_000_003)\n" }
            try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: "\(place)/file\(number).c"))
        }
        try await send(try await commit(), as: "commit-first")
        let file = URL(fileURLWithPath: "\(repository)/part7/file47.c")
        try Data((String(decoding: Data(contentsOf: file), as: UTF8.self) + "one more line\n").utf8).write(to: file)
        try await send(try await commit(), as: "commit-line")
    }

    private func send(_ commit: String, as name: String) async throws {
        guard let id = OID(hex: commit) else { throw LinkProblem(reason: "\(commit) is no commit") }
        let client = try await connect()
        let time = try await seconds {
            try await CommitTransfer(
                store: "\(folder)/repository/.git", mirror: "repository", commit: id, folder: folder
            ).makeWorkspace(
                WorkspaceOrder(
                    repository: "repository", commit: commit, needsSandbox: false, caches: [], writesCaches: false),
                on: client)
        }
        let sent = client.sent.packs
        await client.end()
        print("\(name)-bytes", sent)
        print("\(name)-seconds", time)
    }

    private func commit() async throws -> String {
        try await git("add", "-A")
        try await git("-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "m")
        return try await git("rev-parse", "HEAD")
    }

    @discardableResult
    private func git(_ words: String...) async throws -> String {
        let result = try await ExternalCommand("git", ["-C", "\(folder)/repository"] + words).run()
        guard result.succeeded else { throw LinkProblem(reason: "git \(words): \(result.text)") }
        return result.text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    // MARK: Outputs

    /// Outputs of random bytes, which nothing compresses, and the same with one more mebibyte in the middle.
    private func measureOutputs() async throws {
        for number in 1...2 {
            let path = "\(folder)/outputs-\(number)"
            let sha256 = try await onOwnThread { [mebibytes] in
                try Self.makeOutputs(at: path, mebibytes, insertion: number == 2)
            }
            let client = try await connect()
            let time = try await seconds {
                try await onOwnThread {
                    try OutputSending(outputs: StoredOutputs(path: path, sha256: sha256), machine: client).send()
                }
            }
            let sent = client.sent.outputs
            await client.end()
            print("outputs-\(number)-bytes", sent)
            print("outputs-\(number)-seconds", time)
        }
    }

    private static func makeOutputs(at path: String, _ mebibytes: Int, insertion: Bool) throws -> String {
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        defer { try? file.close() }
        var state: UInt64 = 1
        for number in 0..<mebibytes {
            if insertion, number == mebibytes / 2 { try file.write(contentsOf: Data(repeating: 7, count: 1 << 20)) }
            let words = (0..<(1 << 17)).map { _ in
                // xorshift64
                state ^= state << 13
                state ^= state >> 7
                state ^= state << 17
                return state
            }
            try words.withUnsafeBytes { try file.write(contentsOf: Data($0)) }
        }
        return try FileDigest.of(file: path)
    }
}
