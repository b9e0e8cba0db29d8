package import Layers
import DaemonLog
import StateFiles
import SystemCalls
package import Archive
import Concurrency
package import Results
import Store
package import Engine
import Foundation
import Git
package import Logging
import Pipeline
import Sandbox
import WorkflowPrograms

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The retained workspace that a run starts from, and the results that it takes over.
package struct Resumption: Sendable {
    package var workspace: RetainedWorkspace
    package var carried: [String: CarriedStep]
}

/// Decides which retained workspace a run starts from, and retains the workspaces of failed runs.
package struct RetainedWorkspaces: Sendable {
    package let store: RetainedWorkspaceStore
    let archive: ArchiveStore
    /// The compiler and the packages of the machine: a workspace that was built with others is not used.
    package let tools: String
    let settings: Settings
    let log: Logger

    package init(
        store: RetainedWorkspaceStore, archive: ArchiveStore, tools: String, settings: Settings, log: Logger
    ) {
        self.store = store
        self.archive = archive
        self.tools = tools
        self.settings = settings
        self.log = log
    }

    package struct Settings: Sendable {
        /// The folder with all retained workspaces.
        var folder: String
        var lifetime: Duration
        /// Bytes on disk, of all together.
        var bytes: Int
        package var layering: Layering?

        package init(
            folder: String, lifetime: Duration, bytes: Int, layering: Layering? = nil
        ) {
            self.folder = folder
            self.lifetime = lifetime
            self.bytes = bytes
            self.layering = layering
        }
    }

    /// The workspace that the run starts from. Nil if all steps run; then with a finding if the run asked for one.
    package func resumption(_ prepared: PreparedRun) async -> (Resumption?, Finding?) {
        let run = prepared.run
        guard let earlier = run.request.resumes else { return (nil, nil) }
        let isFix = run.request.fix != nil
        func all(_ why: String) -> Finding {
            Finding(
                rule: "not-resumed", severity: .note,
                message: isFix
                    ? "the fixer starts without the workspace of run \(earlier): \(why)"
                    : "all steps run, also those that passed in run \(earlier): \(why)", file: nil, line: nil,
                column: nil, suggestion: nil)
        }
        guard prepared.plan.steps.allSatisfy(\.secrets.isEmpty) else {
            return (
                nil,
                all("the workspace of a run with secrets is never retained, because a step may have written them to it")
            )
        }
        guard let one = await store.take(earlier) else {
            return (
                nil,
                all(
                    "its workspace is gone; workspaces of failed runs are retained for \(settings.lifetime.inWords), "
                        + "\(settings.bytes >> 30) GiB in total, until the machine restarts (`pipectl watch --keep-failed`)"
                )
            )
        }
        if isFix, one.obstacleToFix(prepared) == nil { return (Resumption(workspace: one, carried: [:]), nil) }
        if let obstacle = isFix ? one.obstacleToFix(prepared) : one.obstacle(to: prepared, tools: tools) {
            await store.giveBack(one)
            return (nil, all(obstacle))
        }
        do {
            let carried = try await carried(from: one, of: earlier)
            let artifacts = carried.values.flatMap(\.artifacts)
            if artifacts.allSatisfy({ archive.wantedArtifact($0.sha256, bytes: $0.bytes) != nil }) {
                return (Resumption(workspace: one, carried: carried), nil)
            }
            await store.giveBack(one)
            return (nil, all("some of its artifacts are no longer in the archive"))
        } catch {
            await store.giveBack(one)
            return (nil, all("its report can't be read: \(error)"))
        }
    }

    /// The steps that passed in the run whose workspace was retained.
    private func carried(from one: RetainedWorkspace, of earlier: RunID) async throws -> [String: CarriedStep] {
        let report = try await archive.report(earlier)
        let tests = try await archive.tests(earlier)
        var carried: [String: CarriedStep] = [:]
        for name in one.carriedSteps {
            guard let step = report.steps.first(where: { $0.name == name }), step.status == .passed else { continue }
            carried[name] = CarriedStep(
                citation: step.standsFor ?? ProofCitation(run: earlier, attempt: report.attempt, step: name),
                tests: step.tests?.of(tests) ?? [], testCounts: step.testCounts,
                findings: report.findings.filter { $0.step == name },
                artifacts: report.artifacts.filter { $0.step == name })
        }
        return carried
    }

    /// Makes a workspace over the retained one, with the home and the other folders that its steps left.
    func resume(_ one: RetainedWorkspace, at place: RunDirectories, user: StepUser?) async throws -> Workspace {
        let workspace = try await Workspace.resume(
            at: place.workspace, one, user: user, layering: settings.layering)
        do {
            for (name, path) in RetainedWorkspace.folders {
                let source = "\(settings.folder)/\(one.folder)/\(name)"
                guard FileManager.default.fileExists(atPath: source) else { continue }
                try await Workspace.copy(source, to: "\(place.folder)/\(path)")
            }
        } catch {
            await workspace.close()
            throw error
        }
        return workspace
    }

    /// Retains the workspace of a failed run. If that fails, a rerun only has to run all steps.
    ///
    /// Only when no process of the run is alive, and after ``Workspace/close()``.
    func retain(_ finished: FinishedWorkspace, _ report: Report, folder: String) async {
        let run = finished.prepared.run
        guard finished.isAllEnded, settings.lifetime > .zero, run.request.background == nil,
            [.failed, .infrastructure].contains(report.verdict), report.steps.contains(where: { !$0.attempts.isEmpty })
        else { return }
        // A step may have written its secrets to any file, so nothing of such a run is retained.
        guard finished.prepared.plan.steps.allSatisfy(\.secrets.isEmpty) else { return }
        do {
            let name = "\(run.id)-\(run.attempt)"
            let (root, filling) = (
                "\(settings.folder)/\(name)", "\(settings.folder)/\(RetainedWorkspaceStore.unfinished)\(name)"
            )
            var one = record(finished, report, folder: name)
            let workspace = finished.workspace
            do {
                (one.layers, one.bytes) = try await offThread {
                    guard mkdir(filling, 0o700) == 0 else { throw SystemFailure("mkdir") }
                    try moved(workspace.folder, to: "\(filling)/workspace")
                    for (name, path) in RetainedWorkspace.folders {
                        try? moved("\(folder)/\(path)", to: "\(filling)/\(name)")
                    }
                    let layers = workspace.keptLayers(
                        user: finished.user, from: "\(filling)/workspace", at: "\(root)/workspace")
                    return (layers, WorkspaceMeter.size(of: filling))
                }
                // A folder whose size can't be measured can't share a limit with others.
                guard one.bytes < WorkspaceMeter.uncounted else { throw FolderTooDeep() }
                try await store.add(one, from: filling)
            } catch {
                try? await offThread { try FolderRemoval.remove(filling) }
                throw error
            }
            log.debug(
                "run \(run.id): retained its workspace, \(one.bytes >> 20) MiB",
                metadata: .code(.workspaceRetained, run: run.id))
        } catch {
            log.notice(
                "run \(run.id): its workspace could not be retained; `rerun --failed` will run all steps: \(error)",
                metadata: .code(.retainingFailed, run: run.id))
            await store.sweep()
        }
    }

    private func record(
        _ finished: FinishedWorkspace, _ report: Report, folder: String
    ) -> RetainedWorkspace {
        let (prepared, run) = (finished.prepared, finished.prepared.run)
        return RetainedWorkspace(
            folder: folder, run: run.id, repository: run.request.repository, workflow: run.request.workflow,
            commit: prepared.commit.hex, tree: prepared.tree.hex, definition: prepared.definition,
            tools: tools, parameters: prepared.parameters, plan: prepared.plan,
            outcomes: Dictionary(report.steps.map { ($0.name, $0.status) }) { first, _ in first },
            environment: prepared.environment, layers: [], program: prepared.program,
            objects: finished.objects, bytes: 0, createdAt: Date(), boot: Boot.id)
    }
}

extension RetainedWorkspace {
    /// The folders of a run, beside its workspace, in which steps find what earlier ones left: by their name in the
    /// retained workspace, the path in the run's folder.
    package static let folders = ["home": "home", "tmp": "tmp", "values": LocalPlace.values(in: ".")]
}

extension Workspace {
    /// Its layers, newest first, with the paths that they have once the folder, which is at `current` now, is at
    /// `place`.
    fileprivate func keptLayers(user: StepUser?, from current: String, at place: String) -> [Layer] {
        func now(_ layer: Layer) -> Layer {
            guard layer.path.hasPrefix(folder + "/") else { return layer }
            return Layer(path: place + layer.path.dropFirst(folder.count), owner: layer.owner, group: layer.group)
        }
        guard let upper else {
            let owner = user ?? .daemon
            return [Layer(path: place, owner: owner.user, group: owner.group)]
        }
        let git = Layer(path: "\(place)/git", owner: StepUser.daemon.user, group: StepUser.daemon.group)
        let own = FileManager.default.fileExists(atPath: "\(current)/git") ? [git] : []
        return [now(upper)] + own + layers.map(now)
    }
}

private func moved(_ source: String, to target: String) throws {
    guard rename(source, target) == 0 else { throw SystemFailure("rename") }
}
