package import StateFiles
import Results
import Store
import Engine
import Foundation
import Pipeline
package import Sandbox
import WorkflowPrograms

/// The sandbox settings of one run, with what has to be given back when the run has ended.
package struct RunSandboxLease: Sendable {
    /// Nil: the steps run without a sandbox.
    package var runSandbox: RunSandbox?
    /// The caches that this run may write to.
    package var written: [String] = []
    /// A sandbox that was started in advance for the run's directories.
    package var standby: StandbySandbox?
    /// Mounts the workspace that the sandbox shows; nil for a plain folder.
    var holder: OverlayMount?
    /// The folders of the workflow program, if the sandboxes show them.
    var program: [String] = []

    /// The file in which steps that are closures find the context of the run.
    package static func contextFile(in folder: String) -> String { "\(LocalPlace.shown(in: folder))/context.json" }

    /// Decides what the sandboxes of the run show.
    ///
    /// - Parameter allowsUnsandboxed: Whether unmerged code may run although there is no sandbox.
    /// - Throws: ``PlaceUnavailable`` for unmerged code where there is no sandbox.
    package static func make(
        _ prepared: PreparedRun, state: StateFolder, folders: SandboxFolders, allowsUnsandboxed: Bool,
        sandboxing: Sandboxing, place: RunDirectories
    ) throws -> RunSandboxLease {
        let request = prepared.run.request
        guard let sandbox = sandboxing.sandbox else {
            // The person could run the code of the own working tree without pipectl, too.
            let isOwnWork = request.change == nil && request.ref.isEmpty
            guard prepared.isMerged || isOwnWork || allowsUnsandboxed else {
                throw PlaceUnavailable(
                    reason: "unmerged code runs only in a sandbox, and none is possible here: "
                        + "\(sandboxing.obstacle ?? "unknown reason") `pipectl watch --allow-unsandboxed` runs it with "
                        + "all the rights of this user instead.")
            }
            return RunSandboxLease()
        }
        // Only steps that are Swift code start the program. A waiting sandbox that shows it is used for other runs as
        // well: otherwise none would ever fit in a repository with runs of both kinds.
        let program = prepared.program
        let isNeeded = prepared.plan.steps.contains { $0.action == .closure } || place.program == program
        if isNeeded, StepUsers.isPossible { for folder in program { try Ownership.open(folder) } }
        // A run that the daemon starts for itself must not change anything outside.
        let pattern = SandboxPool.Pattern(
            repository: prepared.repository, program: isNeeded ? program : [],
            mayWrite: prepared.isMerged && request.background == nil)
        let mounts = mounts(pattern, folders)
        // A step could put a link in the way of a mount below a folder that it may write to, and the mount would be
        // made elsewhere with our rights.
        for target in mounts.map(\.target) + sandbox.readable + [state.path] where Sandbox.hasMounts {
            guard let place = Sandbox.Place.writable.first(where: { (target + "/").hasPrefix($0 + "/") }) else {
                continue
            }
            throw PlaceUnavailable(
                reason: "\(target) is below \(place), which is private to each step in a sandbox; move it elsewhere")
        }
        let reserve = place.take()
        let user = try reserve.map { $0.user } ?? sandboxing.users.take()
        let runSandbox = RunSandbox(sandbox: sandbox, user: user, mounts: mounts)
        var made = RunSandboxLease(
            runSandbox: runSandbox, standby: reserve?.standby, holder: reserve?.holder, program: pattern.program)
        do {
            try made.addCaches(
                of: prepared.plan, at: "\(state.caches)/\(prepared.repository.name)", prepared.isMerged,
                sandboxing.caches)
        } catch {
            made.close(sandboxing)
            throw error
        }
        return made
    }

    /// The mounts of a run's sandboxes beside the system, the run's directories and its caches.
    static func mounts(_ pattern: SandboxPool.Pattern, _ folders: SandboxFolders) -> [SandboxMount] {
        var mounts = pattern.program.map { SandboxMount($0) }
        // The workspace's .git borrows its objects from our store, which borrows those of the repository.
        mounts += pattern.repository.objectFolders.map { SandboxMount($0, isOptional: true) }
        mounts += folders.shared.map { SandboxMount($0, .write) }
        mounts += folders.writable.map { SandboxMount($0, pattern.mayWrite ? .write : .read) }
        return mounts
    }

    private mutating func addCaches(of plan: Plan, at folder: String, _ isMerged: Bool, _ locks: CacheLocks) throws {
        for name in Set(plan.steps.flatMap(\.caches).map(\.name)).sorted() {
            let path = "\(folder)/\(name)"
            let mayWrite = isMerged && locks.take(path)
            if mayWrite {
                written.append(path)
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                if let user = runSandbox?.user {
                    do {
                        try Ownership.give(path, to: user)
                    } catch {
                        // The owner of what can't be walked can't be changed. One run must not spoil the cache for all
                        // later ones.
                        try FolderRemoval.remove(path)
                        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
                        try Ownership.give(path, to: user)
                    }
                }
            }
            guard mayWrite || FileManager.default.fileExists(atPath: path) else { continue }
            runSandbox?.caches[name] = SandboxMount(
                path, at: Sandbox.hasMounts ? "\(Sandbox.Place.caches)/\(name)" : path, mayWrite ? .write : .read)
        }
    }

    /// Gives back what no other run may have while this one goes on. Only when no process of the run is alive.
    ///
    /// - Returns: Whether all sandboxes have certainly ended; otherwise nothing is given back.
    @discardableResult package func close(_ sandboxing: Sandboxing) -> Bool {
        // Ended with the run's other sandboxes, except when the run could not start.
        let isStandbyOver = standby?.discard() ?? true
        holder?.close()
        guard isStandbyOver else { return false }
        sandboxing.caches.giveBack(written)
        sandboxing.users.giveBack(runSandbox?.user)
        return true
    }
}
