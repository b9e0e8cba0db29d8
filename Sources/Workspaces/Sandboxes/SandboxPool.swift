package import Layers
import DaemonLog
import Concurrency
package import StateFiles
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

/// Starts sandboxes in advance for the next runs of each repository, so that a push does not wait for one. Their number
/// is the number of runs of the repository that are under way at the same time, which is mostly one.
///
/// One is started once a step of a run has begun, with the same program, mounts and permissions as that run had. Each
/// sandbox is used once, and ended if no run comes for a while.
package actor SandboxPool {
    /// What decides how a run's sandbox looks, apart from its own directories and user.
    package struct Pattern: Sendable, Equatable {
        var repository: SourceRepository
        /// The folders of the workflow program; empty if no step needs it.
        var program: [String]
        /// Whether steps may write to the machine's writable folders.
        var mayWrite: Bool
        /// Whether the workspace has layers, which are chosen when there is a run.
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
    /// By repository, oldest first.
    private var waiting: [String: [Waiting]] = [:]
    private var made = 0
    /// Set after a failed start: until then no other is tried.
    private var restEnds: ContinuousClock.Instant?
    /// How long a sandbox waits for a run.
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

    /// The directories of a waiting sandbox; nil if none waits.
    ///
    /// Last in, first out, so that surplus sandboxes of a burst of runs expire.
    package func place(for repository: String) -> RunDirectories? { waiting[repository]?.popLast()?.place }

    /// Asks for sandboxes for the next runs like this one, and returns at once. Only while ``run()`` is running.
    ///
    /// - Parameter count: How many are to wait.
    package nonisolated func prepare(_ pattern: Pattern, count: Int) { want.yield((pattern, count)) }

    /// Starts the sandboxes that were asked for until the task is cancelled, then ends all that wait.
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

    /// Ends the sandboxes that have waited too long.
    package func endIdle() async {
        let limit = ContinuousClock.now - patience
        for name in waiting.keys { await end(in: name) { $0.since < limit } }
    }

    /// Ends the sandboxes of the repository that a run like the last one could not use.
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
        var own = LocalPlace(
            workspace: FilePath(workspace), folder: FilePath(folder), stepInit: FilePath(sandbox.stepInit))
        own.runSandbox = RunSandbox(
            sandbox: sandbox, user: user,
            mounts: RunSandboxLease.mounts(pattern, folders))
        own.controlGroups = sandboxing.controlGroups
        do {
            let plain = own
            let (standby, holder) = try await offThread {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                guard let layering else {
                    try FileManager.default.createDirectory(atPath: workspace, withIntermediateDirectories: true)
                    return (try StandbySandbox(place: plain), nil as OverlayMount?)
                }
                let holder = try Workspace.open(at: workspace, user: user, layering: layering)
                var layered = plain
                layered.workspace = FilePath("\(workspace)/merged")
                return (try StandbySandbox(place: layered, over: holder), holder)
            }
            let place = RunDirectories(
                folder: folder, workspace: workspace, program: pattern.program,
                reserve: .init(user: user, standby: standby, holder: holder))
            waiting[repository, default: []].append(Waiting(place: place, pattern: pattern, since: .now))
        } catch {
            log.debug(
                "no sandbox could be started in advance for \(repository); next attempt in a minute: \(error)",
                metadata: .code(.standbyFailed, repository: repository))
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
            log.debug(
                "sandboxes started in advance could not be removed; the next start does it: \(error)",
                metadata: .code(.standbyFailed))
        }
    }
}

extension RunSandboxLease {
    /// What a sandbox for another run like this one has to show. Nil if none can be started in advance: without a
    /// sandbox, with caches, which are locked when a run starts, or if no step has the policy that most steps have.
    package func next(after prepared: PreparedRun, _ space: Workspace) -> SandboxPool.Pattern? {
        guard let runSandbox, runSandbox.caches.isEmpty, prepared.repository.clone == nil,
            prepared.plan.steps.contains(where: {
                $0.action.startsProcess && $0.network == .denied && $0.permissions.isEmpty && $0.secrets.isEmpty
            })
        else { return nil }
        return SandboxPool.Pattern(
            repository: prepared.repository, program: program, mayWrite: prepared.isMerged,
            isLayered: space.mount != nil)
    }
}
