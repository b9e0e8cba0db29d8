package import StateFiles
import SystemCalls
import Results
import Engine
import Foundation
package import Logging
import Pipeline
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Keeps sandboxes ready for the next runs of each repository that runs come of, so that a push does not wait for one: as
/// many as runs of it go on together, most often one.
///
/// They are made once a step of a run has begun, as that run's was: the same program, mounts and rights. Each is used
/// once, and ended when no run has come for a while.
package actor SandboxPool {
    /// What decides how the sandbox of a run looks, but for the folders and the user that are its own.
    package struct Pattern: Sendable, Equatable {
        var repository: SourceRepository
        /// The folders of the workflow program; empty where no step needs it.
        var program: [String]
        /// Whether the box's writable folders may be written to.
        var mayWrite: Bool
        /// Whether the workspace is laid over others, which are chosen when there is a run.
        var isLayered = false
    }

    private struct Waiting {
        package var place: RunDirectories
        var pattern: Pattern
        var since: ContinuousClock.Instant
    }

    private let state: StateFolder
    private let folders: SandboxFolders
    private let log: Logger
    private let wanted: AsyncStream<(pattern: Pattern, count: Int)>
    private let want: AsyncStream<(pattern: Pattern, count: Int)>.Continuation
    private let sandboxing: @Sendable () async -> Sandboxing
    /// By repository, the oldest first.
    private var waiting: [String: [Waiting]] = [:]
    private var made = 0
    /// Set when one could not be made: until then none is tried again.
    private var restEnds: ContinuousClock.Instant?
    /// How long one may wait for a run.
    private let patience = Duration.seconds(300)

    package init(
        state: StateFolder, folders: SandboxFolders, log: Logger,
        sandboxing: @escaping @Sendable () async -> Sandboxing
    ) {
        self.state = state
        self.folders = folders
        self.log = log
        self.sandboxing = sandboxing
        (wanted, want) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// The place of a run: one with a sandbox that waits, or nil.
    ///
    /// The newest, so that those are ended in time which only a burst of runs had use for.
    package func place(for repository: String) -> RunDirectories? { waiting[repository]?.popLast()?.place }

    /// Asks for places for the next runs like this one; returns at once. Without effect unless ``run()`` goes on.
    ///
    /// - Parameter count: How many are to wait.
    package nonisolated func prepare(_ pattern: Pattern, count: Int) { want.yield((pattern, count)) }

    /// Makes what is wanted until the task is cancelled, and ends everything that waits then.
    package func run() async {
        for await (pattern, count) in wanted {
            if Task.isCancelled { break }
            await endOthers(than: pattern)
            let missing = count - waiting[pattern.repository.name, default: []].count
            for _ in 0..<max(missing, 0) { await make(pattern) }
        }
        let left = waiting.values.joined()
        waiting = [:]
        for one in left { await end(one.place) }
    }

    /// Ends those that no run has come for.
    package func endIdle() async {
        let limit = ContinuousClock.now - patience
        for name in waiting.keys { await end(in: name) { $0.since < limit } }
    }

    /// Ends those of the repository that its next run, being like the last one, can't use.
    private func endOthers(than pattern: Pattern) async {
        await end(in: pattern.repository.name) { $0.pattern != pattern }
    }

    private func end(in repository: String, where isOver: (Waiting) -> Bool) async {
        guard let all = waiting[repository] else { return }
        let left = all.filter { !isOver($0) }
        waiting[repository] = left.isEmpty ? nil : left
        for one in all where isOver(one) { await end(one.place) }
    }

    private func make(_ pattern: Pattern) async {
        let repository = pattern.repository.name
        let sandboxing = await sandboxing()
        guard let sandbox = sandboxing.sandbox, Sandbox.hasMounts, restEnds.map({ $0 < .now }) ?? true else { return }
        let layering = pattern.isLayered ? sandboxing.layering : nil
        if pattern.isLayered, layering == nil { return }
        made += 1
        let name = "standby-\(made)"
        let (folder, workspace) = ("\(state.live)/\(name)", "\(state.workspaces)/\(name)")
        let user: StepUser?
        do { user = try sandboxing.users.take() } catch { return }
        var setting = RunSetting(
            workspace: FilePath(workspace), folder: FilePath(folder), environment: [:], closureCommand: { _ in [] },
            stepInit: FilePath(sandbox.stepInit))
        setting.enclosure = Enclosure(
            sandbox: sandbox, user: user,
            mounts: RunEnclosure.mounts(pattern, folders))
        setting.controlGroups = sandboxing.controlGroups
        do {
            let plain = setting
            let (standby, holder) = try await offThread {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                guard let layering else {
                    try FileManager.default.createDirectory(atPath: workspace, withIntermediateDirectories: true)
                    return (try StandbySandbox(setting: plain), nil as LayerHolder?)
                }
                let holder = try Workspace.open(at: workspace, user: user, layering: layering)
                var layered = plain
                layered.workspace = FilePath("\(workspace)/merged")
                return (try StandbySandbox(setting: layered, over: holder), holder)
            }
            let place = RunDirectories(
                folder: folder, workspace: workspace, program: pattern.program,
                reserve: .init(user: user, standby: standby, holder: holder))
            waiting[repository, default: []].append(Waiting(place: place, pattern: pattern, since: .now))
        } catch {
            log.debug("no sandbox could be started in advance for \(repository); next attempt in a minute: \(error)")
            restEnds = .now + .seconds(60)
            sandboxing.users.giveBack(user)
            for path in [folder, workspace] { try? await Workspace.remove(path) }
        }
    }

    private func end(_ place: RunDirectories) async {
        let users = await sandboxing().users
        do {
            try await offThread {
                place.close(users)
                for path in [place.folder, place.workspace] { try FolderRemoval.remove(path) }
            }
        } catch {
            log.debug("sandboxes started in advance could not be removed; the next start does it: \(error)")
        }
    }
}

extension RunEnclosure {
    /// What the next run of the repository will want if it is like this one; nil where nothing could be made ready for it:
    /// no sandbox, caches that are found only then, or no step with the policy that most have.
    package func next(after prepared: PreparedRun, _ space: Workspace) -> SandboxPool.Pattern? {
        guard let enclosure, enclosure.caches.isEmpty, prepared.repository.clone == nil,
            prepared.plan.steps.contains(where: {
                $0.action != .approval && $0.network == .denied && $0.permissions.isEmpty && $0.secrets.isEmpty
            })
        else { return nil }
        return SandboxPool.Pattern(
            repository: prepared.repository, program: program, mayWrite: prepared.isMerged,
            isLayered: space.mount != nil)
    }
}
