import ArgumentParser
import BuildBox
import Client
import Control
import Engine
import Foundation
import Git
import Pipeline
import WorkflowPrograms
import Results
import StateFiles
import Store
import TerminalText

struct Doctor: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks what pipectl needs on this machine, and how to fix what is missing.")

    @OptionGroup var state: StateOptions
    @Flag(help: "Print JSON.") var json = false

    /// The daemon's own situation; nil when none runs or it does not answer.
    private func daemon() async -> DaemonStatus? {
        guard let path = try? state.folder().socket,
            let client = try? await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path),
            case .status(let status)? = try? await client.ask(.status)
        else { return nil }
        return status
    }

    private struct Check: Encodable {
        var name: String
        var isGood: Bool
        var found: String
    }

    func run() async throws {
        var checks: [Check] = []
        func check(_ name: String, _ body: () async throws -> String) async {
            do {
                checks.append(Check(name: name, isGood: true, found: try await body()))
            } catch {
                checks.append(Check(name: name, isGood: false, found: "\(error)"))
            }
        }
        await check("Swift compiler") { try await Toolchain.find().version }
        await check("Pipeline library") { try PipelineLibrary.find().library }
        await check("stepinit") { try BoxDoctor.stepInit() }
        await check("swift-reader") { try BoxDoctor.swiftReader() }
        // What steps of a daemon get is the daemon's: the groups and rights of this shell may be others.
        let machine = await daemon()?.machine
        await check("sandbox") {
            guard let machine else { return try await BoxDoctor.sandbox(state.folder()) }
            if let obstacle = machine.sandboxObstacle { throw CommandEnd(code: 3, message: obstacle) }
            return "\(machine.sandbox ?? "none") (reported by the daemon)"
        }
        await check("limits") {
            if let machine { return "\(machine.limits) (reported by the daemon)" }
            return await BoxDoctor.limits()
        }
        await check("libgit2") {
            guard BoxDoctor.isSupported(libgit2: LibGit2.version) else {
                throw CommandEnd(
                    code: 3, message: "\(LibGit2.version) is older than 1.5; install libgit2-dev 1.5 or newer")
            }
            return "\(LibGit2.version) (\(LibGit2.features.joined(separator: ", ")))"
        }
        await check("git") {
            let git = try await MergingGit.find()
            return "\(git.version), merges changes (\(git.path))"
        }
        await check("state folder") {
            let folder = try state.folder()
            try folder.create()
            return folder.path
        }
        await check("workspaces") {
            if let machine { return "\(machine.workspaces) (reported by the daemon)" }
            return try await BoxDoctor.workspaces(state.folder())
        }
        await check("free space") {
            guard let free = try DiskSpace.free(at: state.folder().path) else {
                throw CommandEnd(code: 3, message: "it can't be determined")
            }
            guard free > 1 << 30 else {
                throw CommandEnd(
                    code: 3,
                    message: "\(free >> 20) MiB; runs start only with 1024 MiB free: remove old runs with `pipectl gc`")
            }
            return "\(free >> 30) GiB"
        }
        await check("copy of the index") {
            let index = try state.folder().index
            guard let made = Store.Index.backupDate(of: index) else {
                return "none yet; `pipectl watch` writes one a day"
            }
            let age = Duration.seconds(max(Date().timeIntervalSince(made), 0).rounded())
            return "\(age.inWords) old, \(Store.Index.backupPath(of: index))"
        }
        await check("open files") {
            let limit = BoxDoctor.openFileLimit()
            guard limit.hard >= 1_024 else {
                throw CommandEnd(
                    code: 3, message: "at most \(limit.hard); raise it with `ulimit -Hn 4096` or LimitNOFILE=")
            }
            return "\(limit.soft) (up to \(limit.hard))"
        }
        #if os(Linux)
            await check("file events") {
                let text =
                    (try? String(contentsOfFile: "/proc/sys/fs/inotify/max_user_watches", encoding: .utf8)) ?? "0"
                let watches = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
                guard watches >= 8_192 else {
                    throw CommandEnd(
                        code: 3, message: "\(watches) inotify watches; raise fs.inotify.max_user_watches to 65536")
                }
                return "\(watches) inotify watches"
            }
        #endif
        await check("proofs") {
            do {
                let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state.folder().socket)
                guard case .proofs(let status) = try await client.ask(.proofs) else {
                    return "the daemon did not answer"
                }
                guard let first = status.distrusted.first else { return "all proofs were right" }
                let name = TerminalText.name(first.step)
                throw CommandEnd(
                    code: 3,
                    message: "steps with wrong proofs: \(status.distrusted.count). \"\(name)\" of "
                        + "\(TerminalText.name(first.repository)) failed in run \(first.run) although run \(first.provedBy) had "
                        + "proved it: declare its inputs, or use its proofs again with `pipectl proofs trust \(name.shellQuoted)`"
                )
            } catch let error as DaemonError where error.code == .notRunning {
                return "not known: no daemon is running; `pipectl proofs` lists them"
            }
        }
        await check("daemon") {
            do {
                let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state.folder().socket)
                guard case .status(let status) = try await client.ask(.status) else {
                    return "the daemon did not answer"
                }
                if let obstacle = status.obstacle {
                    throw CommandEnd(code: 3, message: "process \(status.processID): nothing starts: \(obstacle)")
                }
                return "version \(status.version), process \(status.processID)"
            } catch let error as DaemonError where error.code == .notRunning {
                return "not running; start it with `pipectl watch`"
            }
        }
        await check("protected branches") {
            do {
                let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state.folder().socket)
                guard case .status(let status) = try await client.ask(.status) else {
                    return "the daemon did not answer"
                }
                let advice = status.repositories.compactMap(\.advice)
                guard advice.isEmpty else {
                    throw CommandEnd(
                        code: 3, message: advice.map { TerminalText.name($0, limit: 1_000) }.joined(separator: "\n  "))
                }
                let known = status.repositories.compactMap { repository in
                    repository.target.map { TerminalText.name("\($0) of \(repository.name)") }
                }
                return known.isEmpty ? "not known yet" : known.joined(separator: ", ")
            } catch let error as DaemonError where error.code == .notRunning {
                return "not known: no daemon is running"
            }
        }
        if json {
            try JSONOutput.print(checks)
        } else {
            for check in checks {
                Terminal.print("\(check.isGood ? "✓" : "✗") \(check.name): \(check.found)")
            }
        }
        let bad = checks.count { !$0.isGood }
        if bad > 0 { throw CommandEnd(code: 3, message: "\(bad) of \(checks.count) checks failed") }
    }
}
