import WorkflowPrograms
import Control
import Engine
import Foundation
import Git
import Pipeline
import Results
package import StateFiles
import Store
import TerminalText
import Preparing
import Watching

/// One requirement of pipectl on this machine, and the result of checking it.
package struct HealthCheck: Encodable, Sendable {
    /// What was checked, in a few words.
    package var name: String
    /// Whether it is as it should be.
    package var isGood: Bool
    /// The result; if it is not good, with the next step.
    package var found: String

    package init(name: String, isGood: Bool, found: String) {
        self.name = name
        self.isGood = isGood
        self.found = found
    }
}

/// The checks of `pipectl doctor`.
///
/// The rights and control groups of a running daemon's steps are asked of the daemon, because this process may have
/// others.
package struct HealthChecks: Sendable {
    private let state: @Sendable () throws -> StateFolder

    /// - Parameter state: The state folder; if it is an error, the checks that need the folder fail.
    package init(state: @escaping @Sendable () throws -> StateFolder) { self.state = state }

    /// Makes all checks; some start processes.
    package func run() async -> [HealthCheck] {
        let daemon = await daemon()
        return await tools() + sandboxing(daemon?.machine) + storage() + machineLimits() + asked(of: daemon)
    }

    private func check(_ name: String, _ body: () async throws -> String) async -> HealthCheck {
        do { return HealthCheck(name: name, isGood: true, found: try await body()) } catch {
            return HealthCheck(name: name, isGood: false, found: "\(error)")
        }
    }

    // MARK: This machine

    private func tools() async -> [HealthCheck] {
        [
            await check("Swift compiler") { try await Toolchain.find().version },
            await check("Pipeline library") { try PipelineLibrary.find().library },
            await check("stepinit") { try MachineDoctor.stepInit() },
            await check("swift-reader") { try MachineDoctor.swiftReader() },
            await check("libgit2") {
                guard MachineDoctor.isSupported(libgit2: LibGit2.version) else {
                    throw Trouble("\(LibGit2.version) is older than 1.5; install libgit2-dev 1.5 or newer")
                }
                return "\(LibGit2.version) (\(LibGit2.features.joined(separator: ", ")))"
            },
            await check("git") {
                let git = try await MergingGit.find()
                return "\(git.version), merges changes (\(git.path))"
            },
        ]
    }

    private func sandboxing(_ machine: MachineStatus?) async -> [HealthCheck] {
        [
            await check("sandbox") {
                guard let machine else { return try await MachineDoctor.sandbox(state()) }
                if let obstacle = machine.sandboxObstacle { throw Trouble(obstacle) }
                return "\(machine.sandbox ?? "none") (reported by the daemon)"
            },
            await check("limits") {
                if let machine { return "\(machine.limits) (reported by the daemon)" }
                return await MachineDoctor.limits()
            },
            await check("workspaces") {
                if let machine { return "\(machine.workspaces) (reported by the daemon)" }
                return try await MachineDoctor.workspaces(state())
            },
        ]
    }

    private func storage() async -> [HealthCheck] {
        [
            await check("state folder") {
                let folder = try state()
                try folder.create()
                return folder.path
            },
            await check("free space") {
                guard let free = try DiskSpace.free(at: state().path) else { throw Trouble("it can't be determined") }
                let least = DaemonOptions().minimumFreeBytes
                guard free > least else {
                    throw Trouble(
                        "\(free >> 20) MiB; runs start only with \(least >> 20) MiB free: remove old runs with "
                            + "`pipectl gc`")
                }
                return "\(free >> 30) GiB"
            },
            await check("copy of the index") {
                let index = try state().index
                guard let made = Store.Index.backupDate(of: index) else {
                    return "none yet; `pipectl watch` writes one a day"
                }
                let age = Duration.seconds(max(Date().timeIntervalSince(made), 0).rounded())
                return "\(age.inWords) old, \(Store.Index.backupPath(of: index))"
            },
        ]
    }

    private func machineLimits() async -> [HealthCheck] {
        let files = await check("open files") {
            let limit = MachineDoctor.openFileLimit()
            guard limit.hard >= 1_024 else {
                throw Trouble("at most \(limit.hard); raise it with `ulimit -Hn 4096` or LimitNOFILE=")
            }
            return "\(limit.soft) (up to \(limit.hard))"
        }
        #if os(Linux)
            let events = await check("file events") {
                let path = "/proc/sys/fs/inotify/max_user_watches"
                let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? "0"
                let watches = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0
                guard watches >= 8_192 else {
                    throw Trouble("\(watches) inotify watches; raise fs.inotify.max_user_watches to 65536")
                }
                return "\(watches) inotify watches"
            }
            return [files, events]
        #else
            return [files]
        #endif
    }

    // MARK: The daemon

    /// The daemon's own report about itself; nil if none runs or if it does not answer.
    private func daemon() async -> DaemonStatus? {
        guard let path = try? state().socket,
            let client = try? await DaemonClient<DaemonRequest, DaemonReply>.connect(path: path),
            case .status(let status)? = try? await client.ask(.status)
        else { return nil }
        return status
    }

    private func asked(of daemon: DaemonStatus?) async -> [HealthCheck] {
        [
            await check("proofs") { try await proofs() },
            await check("daemon") {
                guard let daemon else {
                    // The reason, unless it is only that no daemon runs.
                    do {
                        _ = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state().socket)
                    } catch let error as DaemonError where error.code == .notRunning {
                        return "not running; start it with `pipectl watch`"
                    }
                    return "the daemon did not answer"
                }
                if let obstacle = daemon.obstacle {
                    throw Trouble("process \(daemon.processID): nothing starts: \(obstacle)")
                }
                return "version \(daemon.version), process \(daemon.processID)"
            },
            await check("protected branches") {
                guard let daemon else { return "not known: no daemon is running" }
                let advice = daemon.repositories.compactMap(\.advice)
                guard advice.isEmpty else {
                    throw Trouble(advice.map { TerminalText.name($0, limit: 1_000) }.joined(separator: "\n  "))
                }
                let known = daemon.repositories.compactMap { repository in
                    repository.target.map { TerminalText.name("\($0) of \(repository.name)") }
                }
                return known.isEmpty ? "not known yet" : known.joined(separator: ", ")
            },
        ]
    }

    private func proofs() async throws -> String {
        do {
            let client = try await DaemonClient<DaemonRequest, DaemonReply>.connect(path: state().socket)
            guard case .proofs(let status) = try await client.ask(.proofs) else { return "the daemon did not answer" }
            guard let first = status.distrusted.first else { return "all proofs were right" }
            let name = TerminalText.name(first.step)
            throw Trouble(
                "steps with wrong proofs: \(status.distrusted.count). \"\(name)\" of "
                    + "\(TerminalText.name(first.repository)) failed in run \(first.run) although run "
                    + "\(first.provedBy) had proved it: declare its inputs, or use its proofs again with "
                    + "`pipectl proofs trust \(name.shellQuoted)`")
        } catch let error as DaemonError where error.code == .notRunning {
            return "not known: no daemon is running; `pipectl proofs` lists them"
        }
    }
}

/// Why a check is not good, and what to do.
private struct Trouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
