import Concurrency
import Engine
import Foundation
import Git
import MachineProtocol
import Pipeline
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
    /// Called with each connection.
    package var connected: @Sendable (MachineClient) -> Void = { _ in }

    package init(link: any AgentLink, machine: String, allowsUnsandboxed: Bool) {
        (self.link, self.machine, self.allowsUnsandboxed) = (link, machine, allowsUnsandboxed)
    }

    package func provide(_ order: PlaceOrder) async throws -> any ProvidedPlace {
        if let reason = RemotePlaces.obstacle(order) {
            throw PlaceProblem(reason: "\(machine) can't run this: \(reason)", mayHaveActed: false)
        }
        let lifetime = order.run.plan.limits.wallTime.map { min(.seconds($0 + 3_600), longest) } ?? longest
        let client = try await MachineClient.connect(link, machine: machine, lifetime: lifetime, silence: silence)
        connected(client)
        do {
            let run = order.run
            let name = RemotePlaces.mirror(of: run.repository)
            let request = run.run.request
            let isOwnWork = request.change == nil && request.ref.isEmpty
            let isMerged = run.trust == .merged
            try await CommitTransfer(
                store: run.repository.store, mirror: name, commit: run.commit, folder: order.directories.folder
            ).makeWorkspace(
                WorkspaceOrder(
                    repository: name, commit: run.commit.hex,
                    needsSandbox: !isMerged && !isOwnWork && !allowsUnsandboxed,
                    caches: run.plan.steps.flatMap(\.caches).map(\.name),
                    writesCaches: isMerged && request.background == nil), on: client)
        } catch {
            await client.end()
            if case MachineProblem.noSandbox(let reason) = error {
                throw PlaceUnavailable(
                    reason: "unmerged code runs only in a sandbox, and \(machine) has none: \(reason)")
            }
            throw (error as? MachineProblem)?.error ?? error
        }
        return ProvidedRemotePlace(machine: client)
    }

    package func skip(_ run: PreparedRun) async {}

    /// Why no other machine can run a plan; nil if one can.
    private static func obstacle(_ order: PlaceOrder) -> String? {
        if let step = order.run.plan.steps.first(where: { $0.action == .closure }) {
            return "the step \"\(step.name)\" is Swift code of the workflow, which runs on the daemon's machine only; "
                + "make it a command"
        }
        if !order.rooms.isEmpty { return "it has a review, which runs on the daemon's machine only" }
        if order.run.run.request.resumes != nil { return "it continues in a workspace of the daemon's machine" }
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

/// A place on another machine that a run has.
private struct ProvidedRemotePlace: ProvidedPlace {
    let machine: MachineClient

    var place: any RunPlace { RemotePlace(machine: machine) }
    var workspaceView: String? { nil }
    var resumption: Resumption? { nil }
    var findings: [Finding] { [] }
    var delaysNextRun: Bool { false }

    func close(hasPassed: Bool, isAllEnded: Bool) async -> any FinishedPlace {
        await machine.end()
        return FinishedRemotePlace(isAllEnded: isAllEnded)
    }

    func abandon() async { await machine.end() }
}

/// What is left of a place on another machine: nothing, since the agent removes its files.
private struct FinishedRemotePlace: FinishedPlace {
    let isAllEnded: Bool
    var base: Report.Base? { nil }
    var cold: String? { nil }
    var resumed: RunID? { nil }
    func release(_ report: Report?) async {}
}
