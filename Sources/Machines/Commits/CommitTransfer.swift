import Concurrency
import Foundation
package import Git
package import MachineProtocol
import Sandbox

/// Brings a commit with all that it needs into the mirror of a machine, and has a workspace made of it there.
package struct CommitTransfer: Sendable {
    /// The repository that has the commit.
    package var store: String
    /// The mirror's name on the machine.
    package var mirror: String
    package var commit: OID
    /// A folder of the run, for the pack.
    package var folder: String

    package init(store: String, mirror: String, commit: OID, folder: String) {
        (self.store, self.mirror, self.commit, self.folder) = (store, mirror, commit, folder)
    }

    /// How long making a pack may take, and checking it there; a first one holds the whole history.
    private static let deadline = Duration.seconds(1_800)

    /// Makes the workspace of an order, and sends first what the mirror lacks. A mirror that turns out to be damaged is
    /// replaced once, by one that gets everything.
    ///
    /// - Throws: ``MachineProblem/files(_:)`` if the machine can't have the commit's files.
    @discardableResult
    package func makeWorkspace(_ order: WorkspaceOrder, on machine: MachineClient) async throws -> MadeWorkspace {
        do {
            return try await completed(order, machine)
        } catch MachineProblem.mirror {
            _ = try await ask(.newMirror(mirror), Done.self, machine)
            do { return try await completed(order, machine) } catch MachineProblem.mirror(let reason) {
                // It has nothing but what was just sent. Another mirror would not be better for this commit.
                throw MachineProblem.files("a new mirror did not help: \(reason)")
            }
        }
    }

    private func ask<Value: Sendable & Codable>(
        _ request: MachineRequest, _ type: Value.Type, _ machine: MachineClient
    ) async throws -> Value {
        try await onOwnThread { try machine.ask(request, type, limit: CommitTransfer.deadline) }
    }

    private func completed(_ order: WorkspaceOrder, _ machine: MachineClient) async throws -> MadeWorkspace {
        try await complete(machine)
        return try await ask(.workspace(order), MadeWorkspace.self, machine)
    }

    private func complete(_ machine: MachineClient) async throws {
        let (mirror, hex) = (mirror, commit.hex)
        let state = try await ask(.mirror(mirror), MirrorState.self, machine)
        guard !state.tips.contains(hex) else { return }
        let pack = "\(folder)/pack-\(UInt64.random(in: .min ... .max))"
        defer { unlink(pack) }
        try await writePack(to: pack, without: state.tips)
        try await onOwnThread {
            _ = try machine.ask(
                .pack(repository: mirror, commit: hex), Done.self, limit: CommitTransfer.deadline,
                send: { try machine.send(pack: pack, over: $0) })
        }
    }

    /// Writes what the commit needs beyond `tips`. Deltas may be based on what the tips have, so that a small change is a
    /// small pack however large its folders are.
    func writePack(to path: String, without tips: [String]) async throws {
        let known = try await withRepository(at: store) { repository in
            // Others may have made commits of the mirror, which nobody here knows.
            tips.prefix(MirrorState.most).compactMap { OID(hex: $0) }.filter { repository.contains($0) }
        }
        var environment = ["PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin", "LC_ALL": "C"]
        (environment["GIT_CONFIG_NOSYSTEM"], environment["GIT_CONFIG_GLOBAL"]) = ("1", "/dev/null")
        // No path is a part of the line.
        let line = #"exec git --git-dir="$1" pack-objects --revs --thin --stdout --delta-base-offset -q > "$2""#
        var command = ExternalCommand(
            "/bin/sh", ["-c", line, "sh", store, path], environment: environment, deadline: CommitTransfer.deadline,
            outputLimit: 4_096)
        command.input = Array(([commit.hex] + known.map { "^\($0.hex)" } + [""]).joined(separator: "\n").utf8)
        let made = try await command.run()
        guard made.succeeded else {
            throw CommitTransferProblem(
                reason: "the commit \(commit.short) could not be packed for another machine: "
                    + made.text.trimmingCharacters(in: .whitespacesAndNewlines).prefix(300))
        }
    }
}

/// Why a commit could not be brought to a machine, as a sentence.
package struct CommitTransferProblem: Error, Sendable, CustomStringConvertible {
    package var reason: String
    package var description: String { reason }
}
