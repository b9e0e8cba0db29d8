import MachinePool
import DaemonLog
import Concurrency
import Engine
import Foundation
import Git
import Logging
import Pipeline
import Preparing
import Results
import Sandbox
import Store
import SystemPackage
import Watching
import Workspaces

/// The place of a run: a new one, or one that outlived the daemon or the connection.
extension RunPipeline {
    /// How often a run may lose its connection and go on.
    static let mostAdoptions = 20

    typealias Place = (provided: ProvidePhase.Provided, kept: KeptSteps?)

    /// The place that an earlier life of the daemon left, or a new one.
    func firstPlace(_ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs) async throws -> Place {
        guard let left = task.left else { return try await newPlace(task, prepared, proofs, losses: 0) }
        let kept = try kept(in: task, since: left.placedAt)
        if left.plan == prepared.plan, left.tree == prepared.tree.hex,
            let provided = try await adopt(left.trace, kept, task, prepared, proofs, losses: 0)
        {
            return (provided, kept)
        }
        await provide.end(left)
        if let acts = await unknownActs(of: task) { throw EarlyVerdict(verdict: .infrastructure, reason: acts.reason) }
        try await removeResults(of: task)
        return try await newPlace(task, prepared, proofs, losses: 0)
    }

    /// Provides a place, on the machine that the run gets, and notes durably whether another life of the daemon may take
    /// it over.
    ///
    /// - Parameter losses: How often a machine was lost while the run was there.
    func newPlace(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, losses: Int
    ) async throws -> Place {
        let provided = try await place(task, prepared, proofs, losses: losses)
        guard let trace = provided.place.trace, LeftRun.obstacle(to: prepared.plan) == nil else {
            return (provided, nil)
        }
        do {
            let left = LeftRun(
                task.id, trace, plan: prepared.plan, tree: prepared.tree.hex, startedAt: task.startedAt)
            let kept = try kept(in: task, since: left.placedAt)
            try left.write(to: task.place.folder)
            return (provided, kept)
        } catch {
            await provided.place.abandon()
            throw error
        }
    }

    private func kept(in task: RunTask, since begin: Date) throws -> KeptSteps {
        try KeptSteps(folder: FilePath("\(task.place.folder)/\(Self.keptFolder)"), startedAt: begin)
    }

    private static let keptFolder = "steps"

    /// Takes over a place whose connection was lost; nil if that is impossible and nothing is left there.
    func adopt(
        _ trace: PlaceTrace, _ kept: KeptSteps, _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs,
        losses: Int
    ) async throws -> ProvidePhase.Provided? {
        do {
            if let obstacle = kept.obstacle { throw PlaceNotAdopted(reason: obstacle) }
            let provided = try await place(task, prepared, proofs, losses: losses, adopts: trace)
            provide.log.notice(
                "run \(task.id) goes on at \(trace.machine), where its steps went on meanwhile",
                metadata: .code(.runAdopted, run: task.id))
            return provided
        } catch let problem as PlaceNotAdopted {
            provide.log.notice(
                "run \(task.id) can't go on at \(trace.machine): \(problem)",
                metadata: .code(.runNotAdopted, run: task.id))
            return nil
        } catch is EarlyVerdict where task.request.runsAtMostOnce {
            // It was stopped meanwhile. What its steps did counts more.
            return nil
        }
    }

    private func place(
        _ task: RunTask, _ prepared: RunPreparation, _ proofs: RunProofs, losses: Int, adopts: PlaceTrace? = nil
    ) async throws -> ProvidePhase.Provided {
        let wait = PlaceWait(stop: task.stop, losses: losses, adopts: adopts) { [monitor] in
            monitor.place($0, task.id)
        }
        let provided = try await provide.provide(task, prepared, proofs, wait: wait, nextPlaces: nextPlaces(task))
        monitor.running(task.id)
        return provided
    }

    /// Ends what an earlier life left of a run that got no place. If a step of it may have acted, a person must look.
    func settle(_ left: LeftRun, _ ending: inout RunEnding, _ task: RunTask) async {
        await provide.end(left)
        guard let acts = await unknownActs(of: task) else { return }
        ending.putBack = nil
        (ending.report.verdict, ending.report.reason) = (.infrastructure, acts.reason)
        ending.report.findings += acts.findings
    }

    /// What a person must check because nobody knows what became of a step.
    private func unknownActs(of task: RunTask) async -> (reason: String, findings: [Finding])? {
        guard task.request.runsAtMostOnce else { return nil }
        do {
            let intents = try await record.index.intents(of: task.id)
            return Recovery.unknownActs(of: task.id, intents).map { ($0, intents.map(\.finding)) }
        } catch {
            return ("unknown: whether a step has acted can't be read: \(error)", [])
        }
    }

    /// Removes what steps have left in the run's folder, before they run again.
    func removeResults(of task: RunTask) async throws {
        try await offThread { [folder = task.place.folder] in
            try LeftRun.remove(from: folder)
            for name in ["logs", "results", "artifacts", Self.keptFolder] {
                try FolderRemoval.remove("\(folder)/\(name)")
            }
        }
    }
}
