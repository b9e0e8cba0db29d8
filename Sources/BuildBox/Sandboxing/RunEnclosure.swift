import StateFiles
import Results
import Store
import Engine
import Foundation
import Pipeline

/// What encloses the steps of one run; to be given back when the run has ended.
struct RunEnclosure: Sendable {
    /// Nil: the steps run as they are.
    var enclosure: Enclosure?
    /// Caches that this run writes.
    var written: [String] = []
    /// A sandbox that was started in advance for the run's folders, if there was one.
    var standby: StandbySandbox?
    /// What mounts the workspace that it shows; nil for a plain folder.
    var holder: LayerHolder?
    /// The folders of the workflow program, if its sandboxes show them.
    var program: [String] = []

    /// Where a run's context is written for its closure steps.
    static func contextFile(in folder: String) -> String { "\(RunSetting.shown(in: folder))/context.json" }

    /// Decides what the run's sandboxes show.
    ///
    /// - Throws: ``EarlyVerdict`` for unread code where nothing can enclose it.
    static func make(
        _ prepared: RunPreparation, of run: QueuedRun, isMerged: Bool, in repository: WatchedRepository,
        state: StateFolder, options: BoxOptions, sandboxing: Sandboxing, place: RunPlace
    ) throws -> RunEnclosure {
        guard let sandbox = sandboxing.sandbox else {
            // What a person runs from the own working tree, that person can run anyway.
            let isOwnWork = run.request.change == nil && run.request.ref.isEmpty
            guard isMerged || isOwnWork || options.allowsUnsandboxed else {
                throw EarlyVerdict(
                    verdict: .infrastructure,
                    reason: "unmerged code runs only in a sandbox, and none is possible here: "
                        + "\(sandboxing.obstacle ?? "unknown reason") `pipectl watch --allow-unsandboxed` runs it with "
                        + "all the rights of this user instead.")
            }
            return RunEnclosure()
        }
        // Only steps that are Swift code start it. A sandbox that waits with it serves others as well: in a repository
        // that has runs of both kinds, none would ever fit otherwise.
        let folders = prepared.program.folders
        let isNeeded = prepared.plan.steps.contains { $0.action == .closure } || place.program == folders
        if isNeeded, StepUsers.isPossible { for folder in folders { try Ownership.open(folder) } }
        // What the box wants of its own accord must change nothing outside.
        let pattern = Standbys.Pattern(
            repository: repository, program: isNeeded ? folders : [],
            mayWrite: isMerged && run.request.background == nil)
        let mounts = mounts(pattern, options: options)
        // Below a folder that steps write to, a link of theirs would lead astray who makes a sandbox and the places of
        // its mounts with our rights.
        for target in mounts.map(\.target) + sandbox.readable + [state.path] where Sandbox.hasMounts {
            guard let place = Sandbox.Place.writable.first(where: { (target + "/").hasPrefix($0 + "/") }) else {
                continue
            }
            throw EarlyVerdict(
                verdict: .infrastructure,
                reason: "\(target) is below \(place), which is private to each step in a sandbox; move it elsewhere")
        }
        let reserve = place.take()
        let user = try reserve.map { $0.user } ?? sandboxing.users.take()
        let enclosure = Enclosure(sandbox: sandbox, user: user, mounts: mounts)
        var made = RunEnclosure(
            enclosure: enclosure, standby: reserve?.standby, holder: reserve?.holder, program: pattern.program)
        do {
            try made.addCaches(of: prepared.plan, at: "\(state.caches)/\(repository.name)", isMerged, sandboxing.caches)
        } catch {
            made.close(sandboxing)
            throw error
        }
        return made
    }

    /// What a run's sandboxes show beside the system, its own folders and its caches.
    static func mounts(_ pattern: Standbys.Pattern, options: BoxOptions) -> [SandboxMount] {
        var mounts = pattern.program.map { SandboxMount($0) }
        // The workspace's own .git borrows its objects from our store, which borrows the repository's.
        mounts += pattern.repository.objectFolders.map { SandboxMount($0, isOptional: true) }
        mounts += options.shared.map { SandboxMount($0, .write) }
        mounts += options.writable.map { SandboxMount($0, pattern.mayWrite ? .write : .read) }
        return mounts
    }

    private mutating func addCaches(of plan: Plan, at folder: String, _ isMerged: Bool, _ locks: CacheLocks) throws {
        for name in Set(plan.steps.flatMap(\.caches).map(\.name)).sorted() {
            let path = "\(folder)/\(name)"
            let mayWrite = isMerged && locks.take(path)
            if mayWrite {
                written.append(path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                if let user = enclosure?.user {
                    do {
                        try Ownership.give(path, to: user)
                    } catch {
                        // What can't be walked can't be handed over: one run must not spoil it for all that follow.
                        try FolderRemoval.remove(path)
                        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                        try Ownership.give(path, to: user)
                    }
                }
            }
            guard mayWrite || FileManager.default.fileExists(atPath: path) else { continue }
            enclosure?.caches[name] = SandboxMount(
                path, at: Sandbox.hasMounts ? "\(Sandbox.Place.caches)/\(name)" : path, mayWrite ? .write : .read)
        }
    }

    /// Gives back what no other run could have meanwhile; not to be called while something of the run may live.
    ///
    /// - Returns: Whether it is certain that nothing of its sandboxes lives; else all of it stays taken.
    @discardableResult func close(_ sandboxing: Sandboxing) -> Bool {
        // Ended with the run's other sandboxes; it is still there when the run could not begin.
        let isStandbyOver = standby?.discard() ?? true
        holder?.close()
        guard isStandbyOver else { return false }
        sandboxing.caches.giveBack(written)
        sandboxing.users.giveBack(enclosure?.user)
        return true
    }
}
