package import StateFiles
import Results
import Store
import Engine
import Foundation
import Pipeline
package import Sandbox
import WorkflowPrograms

/// What encloses the steps of one run; to be given back when the run has ended.
package struct RunEnclosure: Sendable {
    /// Nil: the steps run as they are.
    package var enclosure: Enclosure?
    /// Caches that this run writes.
    package var written: [String] = []
    /// A sandbox that was started in advance for the run's folders, if there was one.
    package var standby: StandbySandbox?
    /// What mounts the workspace that it shows; nil for a plain folder.
    var holder: LayerHolder?
    /// The folders of the workflow program, if its sandboxes show them.
    var program: [String] = []

    /// Where a run's context is written for its closure steps.
    package static func contextFile(in folder: String) -> String { "\(RunSetting.shown(in: folder))/context.json" }

    /// Decides what the run's sandboxes show.
    ///
    /// - Parameter allowsUnsandboxed: Whether unmerged code may run although there is no sandbox.
    /// - Throws: ``SandboxUnavailable`` for unmerged code where there is no sandbox.
    package static func make(
        _ prepared: PreparedRun, state: StateFolder, folders: SandboxFolders, allowsUnsandboxed: Bool,
        sandboxing: Sandboxing, place: RunDirectories
    ) throws -> RunEnclosure {
        let request = prepared.run.request
        guard let sandbox = sandboxing.sandbox else {
            // What a person runs from the own working tree, that person can run anyway.
            let isOwnWork = request.change == nil && request.ref.isEmpty
            guard prepared.isMerged || isOwnWork || allowsUnsandboxed else {
                throw SandboxUnavailable(
                    reason: "unmerged code runs only in a sandbox, and none is possible here: "
                        + "\(sandboxing.obstacle ?? "unknown reason") `pipectl watch --allow-unsandboxed` runs it with "
                        + "all the rights of this user instead.")
            }
            return RunEnclosure()
        }
        // Only steps that are Swift code start it. A sandbox that waits with it serves others as well: in a repository
        // that has runs of both kinds, none would ever fit otherwise.
        let program = prepared.program
        let isNeeded = prepared.plan.steps.contains { $0.action == .closure } || place.program == program
        if isNeeded, StepUsers.isPossible { for folder in program { try Ownership.open(folder) } }
        // What the box wants of its own accord must change nothing outside.
        let pattern = SandboxPool.Pattern(
            repository: prepared.repository, program: isNeeded ? program : [],
            mayWrite: prepared.isMerged && request.background == nil)
        let mounts = mounts(pattern, folders)
        // Below a folder that steps write to, a link of theirs would lead astray who makes a sandbox and the places of
        // its mounts with our rights.
        for target in mounts.map(\.target) + sandbox.readable + [state.path] where Sandbox.hasMounts {
            guard let place = Sandbox.Place.writable.first(where: { (target + "/").hasPrefix($0 + "/") }) else {
                continue
            }
            throw SandboxUnavailable(
                reason: "\(target) is below \(place), which is private to each step in a sandbox; move it elsewhere")
        }
        let reserve = place.take()
        let user = try reserve.map { $0.user } ?? sandboxing.users.take()
        let enclosure = Enclosure(sandbox: sandbox, user: user, mounts: mounts)
        var made = RunEnclosure(
            enclosure: enclosure, standby: reserve?.standby, holder: reserve?.holder, program: pattern.program)
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

    /// What a run's sandboxes show beside the system, its own folders and its caches.
    static func mounts(_ pattern: SandboxPool.Pattern, _ folders: SandboxFolders) -> [SandboxMount] {
        var mounts = pattern.program.map { SandboxMount($0) }
        // The workspace's own .git borrows its objects from our store, which borrows the repository's.
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
    @discardableResult package func close(_ sandboxing: Sandboxing) -> Bool {
        // Ended with the run's other sandboxes; it is still there when the run could not begin.
        let isStandbyOver = standby?.discard() ?? true
        holder?.close()
        guard isStandbyOver else { return false }
        sandboxing.caches.giveBack(written)
        sandboxing.users.giveBack(enclosure?.user)
        return true
    }
}

/// Why a run can't have a sandbox.
package struct SandboxUnavailable: Error, Sendable, CustomStringConvertible {
    /// The reason and what to do about it, as a sentence.
    package let reason: String
    package var description: String { reason }
}
