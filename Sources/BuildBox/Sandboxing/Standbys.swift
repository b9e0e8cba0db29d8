import Archive
import Engine
import Foundation
import Logging
import Pipeline
import SystemPackage

/// Keeps a sandbox ready for the next run of each repository that runs come of, so that a push does not wait for one.
///
/// It is made once the first step of a run has begun, as that run's was: the same program, mounts and rights. It is used once, and
/// ended when no run has come for a while.
actor Standbys {
    /// What decides how the sandbox of a run looks, but for the folders and the user that are its own.
    struct Pattern: Sendable, Equatable {
        var repository: WatchedRepository
        /// The folders of the workflow program; empty where no step needs it.
        var program: [String]
        /// Whether the box's writable folders may be written to.
        var mayWrite: Bool
    }

    private struct Waiting {
        var place: RunPlace
        var pattern: Pattern
        var since: ContinuousClock.Instant
    }

    private let state: StateFolder
    private let options: BoxOptions
    private let log: Logger
    private let wanted: AsyncStream<Pattern>
    private let want: AsyncStream<Pattern>.Continuation
    private let sandboxing: @Sendable () async -> Sandboxing
    private var waiting: [String: Waiting] = [:]
    private var made = 0
    /// How long one may wait for a run.
    private let patience = Duration.seconds(300)

    init(
        state: StateFolder, options: BoxOptions, log: Logger, sandboxing: @escaping @Sendable () async -> Sandboxing
    ) {
        self.state = state
        self.options = options
        self.log = log
        self.sandboxing = sandboxing
        (wanted, want) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
    }

    /// The place of a run: one with a sandbox that waits, or nil.
    func place(for repository: String) -> RunPlace? { waiting.removeValue(forKey: repository)?.place }

    /// Asks for a place for the next run like this one; returns at once. Without effect unless ``run()`` goes on.
    nonisolated func prepare(_ pattern: Pattern) { want.yield(pattern) }

    /// Makes what is wanted until the task is cancelled, and ends everything that waits then.
    func run() async {
        for await pattern in wanted {
            if Task.isCancelled { break }
            await make(pattern)
        }
        for one in waiting.values { await end(one.place) }
        waiting = [:]
    }

    /// Ends those that no run has come for.
    func endIdle() async {
        let limit = ContinuousClock.now - patience
        for (name, one) in waiting where one.since < limit {
            waiting[name] = nil
            await end(one.place)
        }
    }

    private func make(_ pattern: Pattern) async {
        let name = pattern.repository.name
        if let known = waiting[name] {
            if known.pattern == pattern { return }
            waiting[name] = nil
            await end(known.place)
        }
        let sandboxing = await sandboxing()
        guard let sandbox = sandboxing.sandbox, Sandbox.hasMounts else { return }
        made += 1
        let (folder, workspace) = ("\(state.live)/standby-\(made)", "\(state.workspaces)/standby-\(made)")
        let user: StepUser?
        do { user = try sandboxing.users.take() } catch { return }
        var setting = RunSetting(
            workspace: FilePath(workspace), folder: FilePath(folder), environment: [:], closureCommand: { _ in [] },
            stepInit: FilePath(sandbox.stepInit))
        setting.enclosure = Enclosure(
            sandbox: sandbox, user: user,
            mounts: RunEnclosure.mounts(pattern, options: options))
        setting.controlGroups = sandboxing.controlGroups
        do {
            let prepared = setting
            let standby = try await offThread {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                try FileManager.default.createDirectory(atPath: workspace, withIntermediateDirectories: true)
                return try StandbySandbox(setting: prepared)
            }
            let place = RunPlace(
                folder: folder, workspace: workspace, program: pattern.program,
                reserve: .init(user: user, standby: standby))
            waiting[name] = Waiting(place: place, pattern: pattern, since: .now)
        } catch {
            log.debug("no sandbox could be started in advance for \(name): \(error)")
            sandboxing.users.giveBack(user)
            for path in [folder, workspace] { try? await Workspace.remove(path) }
        }
    }

    private func end(_ place: RunPlace) async {
        let users = await sandboxing().users
        do {
            try await offThread {
                place.close(users)
                for path in [place.folder, place.workspace] { try FolderRemoval.remove(path) }
            }
        } catch {
            log.debug("what was made ready in advance could not be removed; the next start does it: \(error)")
        }
    }
}

extension RunEnclosure {
    /// What the next run of the repository will want if it is like this one; nil where nothing could be made ready for it:
    /// no sandbox, a workspace or caches that are found only then, or no step with the policy that most have.
    func next(after prepared: RunPreparation, in repository: WatchedRepository, _ space: Workspace) -> Standbys.Pattern?
    {
        guard let enclosure, enclosure.caches.isEmpty, space.mount == nil,
            prepared.plan.steps.contains(where: {
                $0.action != .approval && $0.network == .denied && $0.permissions.isEmpty && $0.secrets.isEmpty
            })
        else { return nil }
        return Standbys.Pattern(
            repository: repository, program: program, mayWrite: prepared.trust == .merged)
    }
}
