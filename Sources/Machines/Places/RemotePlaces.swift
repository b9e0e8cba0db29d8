package import MachinePool
import Concurrency
import Engine
import Foundation
import Git
import MachineProtocol
package import Pipeline
import Results
import Sandbox
package import Workspaces

/// Prepares places on one other machine.
package struct RemotePlaces: PlaceProvider {
    /// How the machine is reached.
    package let link: any AgentLink
    /// The machine's name, for reports.
    package let machine: String
    /// Whether unmerged code may run there although the machine has no sandbox.
    package let allowsUnsandboxed: Bool
    /// The longest time that the agent lives; a run that has a limit of its own has its limit and an hour for the rest.
    package var longest = Duration.seconds(24 * 3_600)
    package var silence = Duration.seconds(30)
    /// How many steps of the run may run at a time; nil for as many as the machine has processors.
    package var steps: Int?
    /// Called with each connection.
    package var connected: @Sendable (MachineClient) -> Void = { _ in }
    /// What the machine is said to be. Another system or processor could not run what was built for this one.
    package var kind: [MachineTrait] = []
    /// Whether each run gets the same machine.
    package var isOne = true
    /// Decides about the snapshots of the machine; nil if it gets none.
    package var snapshots: OtherSnapshots?
    /// Called with whether runs of a line would start from a snapshot there, whenever that is known.
    package var warmed: @Sendable (SnapshotLine, Bool) -> Void = { _, _ in }

    package init(link: any AgentLink, machine: String, allowsUnsandboxed: Bool) {
        (self.link, self.machine, self.allowsUnsandboxed) = (link, machine, allowsUnsandboxed)
    }

    package func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
        if let reason = RemotePlaces.obstacle(to: order.run) {
            throw PlaceProblem(reason: "\(machine) can't run this: \(reason)", mayHaveActed: false)
        }
        let lifetime = order.run.plan.limits.wallTime.map { min(.seconds($0 + 3_600), longest) } ?? longest
        if let trace = order.wait.adopts { return try await adopt(trace, lifetime, order.wait.runStop) }
        let client = try await MachineClient.connect(
            link, machine: machine, lifetime: lifetime, silence: silence, stop: order.wait.runStop)
        connected(client)
        let found = [client.greeting.platform, client.greeting.architecture]
        if let wrong = kind.first(where: { $0.isMeasured && !found.contains($0.name) }) {
            await client.end()
            throw PlaceProblem(
                reason: "\(machine) is \(found.joined(separator: " ")), and not \(wrong.name)", mayHaveActed: false)
        }
        var snapshots = SnapshotPart(warmed: warmed)
        let tools: String
        do {
            let run = order.run
            let name = RemotePlaces.mirror(of: run.repository)
            let request = run.run.request
            let isOwnWork = request.change == nil && request.ref.isEmpty
            let isMerged = run.trust == .merged
            await snapshots.choose(order, self.snapshots, mirror: name, on: client, isOne: isOne)
            let made = try await CommitTransfer(
                store: run.repository.store, mirror: name, commit: run.commit, folder: order.directories.folder
            ).makeWorkspace(
                WorkspaceOrder(
                    repository: name, commit: run.commit.hex,
                    needsSandbox: !isMerged && !isOwnWork && !allowsUnsandboxed,
                    caches: run.plan.steps.flatMap(\.caches).map(\.name),
                    writesCaches: isMerged && request.background == nil, snapshots: snapshots.order), on: client)
            snapshots.take(made)
            tools = String(made.tools.prefix(4_096))
        } catch {
            await client.end()
            switch error {
            case MachineProblem.noSandbox(let reason):
                throw PlaceUnavailable(
                    reason: "unmerged code runs only in a sandbox, and \(machine) has none: \(reason)")
            case MachineProblem.files(let reason):
                throw PlaceUnavailable(
                    reason: "the files of commit \(order.run.commit.short) can't be on \(machine): "
                        + "\(reason.prefix(1_000))")
            default: throw (error as? MachineProblem)?.error ?? error
            }
        }
        return ProvidedRemotePlace(
            machine: client, link: link, steps: steps ?? client.greeting.cores, tools: tools, snapshots: snapshots)
    }

    /// Finds a lasting agent again, which has the workspace already.
    private func adopt(
        _ trace: PlaceTrace, _ lifetime: Duration, _ stop: StopSignal
    ) async throws -> any ProvidedPlace {
        let client = try await MachineClient.connect(
            link, machine: machine, lifetime: lifetime, silence: silence, resuming: trace.agent, stop: stop)
        connected(client)
        do {
            try await onOwnThread { _ = try client.ask(.resume, Done.self) }
        } catch {
            await client.end()
            throw (error as? MachineProblem)?.error ?? error
        }
        return ProvidedRemotePlace(
            machine: client, link: link, steps: steps ?? client.greeting.cores, tools: trace.tools ?? "",
            snapshots: SnapshotPart(of: trace, warmed: warmed))
    }

    package func skip(_ run: PreparedRun) async {}

    package func end(_ trace: PlaceTrace) async { await link.end(trace.agent) }

    /// Why no other machine can run a run, as a part of a sentence; nil if one can.
    package static func obstacle(to run: PreparedRun) -> String? {
        let request = run.run.request
        if let step = run.plan.steps.first(where: { $0.action == .closure }) {
            return "the step \"\(step.name)\" is Swift code of the workflow, which runs on the daemon's machine only; "
                + "make it a command"
        }
        if run.plan.steps.contains(where: { $0.review != nil }) {
            return "it has a review, which runs on the daemon's machine only"
        }
        if request.resumes != nil { return "it continues in a workspace of the daemon's machine" }
        if request.fix?.isMaking == true || request.task?.isOfAgent == true {
            return "an agent works in it, on the daemon's machine only"
        }
        return nil
    }

    /// The name of a repository's mirror: those of two daemons may have the same name.
    private static func mirror(of repository: SourceRepository) -> String {
        let letters = repository.name.unicodeScalars.map { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
                ? Character(scalar) : "-"
        }
        let host = ProcessInfo.processInfo.hostName
        return "r" + String(letters.prefix(40)) + "-"
            + BytesDigest.sha256(Array("\(host)\n\(repository.store)".utf8)).prefix(16)
    }
}
