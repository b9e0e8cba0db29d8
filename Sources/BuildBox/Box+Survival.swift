import Workspaces
import StateFiles
import SystemCalls
import Archive
import Engine
import Results
import Store
import Foundation
import Git
import Logging

/// How the box gets over what passes: a full disk, no descriptors, an index that can't be written for a while.
extension Box {
    /// Tries again, every two seconds, what could not be done for want of something of this machine; less often while
    /// nothing happens and nothing is wanting.
    func keepGoing() async {
        var wasShort = false
        var (seen, released) = (activity, -1)
        var (quietSince, releasedAt, isQuiet) = (ContinuousClock.now, ContinuousClock.now, false)
        while !Task.isCancelled {
            do { try await Task.sleep(for: .seconds(isQuiet ? 6 : 2)) } catch { return }
            let wasFull = !self.hasSpace()
            let hasSpace = await makeSpace()
            let isShort = wasFull || !hasSpace || !troubles.isEmpty
            if wasShort && !isShort { await archiveUnstarted() }
            wasShort = isShort
            // Whoever found an obstacle waits for a wake-up; nobody else knows when the disk has room again.
            if isShort { scheduler.wakeUp() }
            var isWanting = isShort
            for watcher in watchers.values where await watcher.failedForWantOfSomething {
                isWanting = true
                watcher.wakeUp()
            }
            await sandboxPool?.endIdle()
            await kept.expire()
            let reserve = reserve
            if hasSpace, !reserve.isWhole { try? await offThread { reserve.renew() } }
            // Once nothing has happened for a while, and then not again until something does; from time to time also
            // while somebody asks again and again how it goes.
            let isIdle = board.isEmpty
            if activity != seen || !isIdle { quietSince = .now }
            isQuiet = activity == seen && isIdle && !isWanting
            let since = min(quietSince, releasedAt + Box.patience * 9)
            if activity != released, isIdle, since + Box.patience < .now {
                (released, releasedAt) = (activity, .now)
                index.releaseMemory()
                closeIdleRepositories()
                try? await offThread { Memory.release() }
            }
            seen = activity
        }
    }

    /// Where the disk is short, gives up what nobody wants, and then what only saves time.
    ///
    /// - Returns: Whether there is space for a run.
    func makeSpace() async -> Bool {
        if hasSpace() { return true }
        await reaper?.removeAll()
        if hasSpace() { return true }
        let workspaces = await kept.removeAll()
        if workspaces > 0 {
            log.warning("removed \(workspaces) retained workspaces of failed runs to free disk space")
        }
        let count = await bases.remove(.whenThereIsRoom) { _ in true }
        if count > 0 { log.warning("removed \(count) warm workspaces to free disk space") }
        return hasSpace()
    }

    /// How long memory is kept for what may come next: the first push after it was given back waits 5 ms longer.
    private static let patience = Duration.seconds(60)

    /// Has what the machine's settings are now looked at, if that was not done a moment ago; the next run would have to.
    ///
    /// Returns at once: where a disk of theirs does not answer, that is no look's affair.
    func lookAtSettings() {
        guard let settings = found?.sandbox?.settings else { return }
        DispatchQueue.global().async { settings.renew() }
    }

    /// Says that memory may have been used that is not used any more.
    func noteActivity() { activity &+= 1 }

    /// Notes what can't be done now, says it once, and shows it in the status until ``clearTrouble(_:)``.
    func noteTrouble(_ what: String, _ error: any Error) {
        if BoxTools.isDiskFull(error), reserve.release() {
            log.error("the disk of \(state.path) is full: released the reserve of \(ReservedDiskSpace.bytes >> 20) MiB")
        }
        let sentence = "\(what): \(error)"
        if troubles.updateValue(sentence, forKey: what) == nil {
            log.error("\(sentence) Retrying every 2 s.")
        }
    }

    func clearTrouble(_ what: String) {
        if troubles.removeValue(forKey: what) != nil { log.notice("solved: \(what)") }
    }

    // MARK: The copy of the index

    /// Keeps a copy of the index that is a day old at most.
    func keepBackups() async {
        while !Task.isCancelled {
            await backUpIfDue()
            await checkpoint()
            do { try await Task.sleep(for: .seconds(600)) } catch { return }
        }
    }

    /// What a lost write-ahead log takes with it is then what happened since, and not all there ever was.
    func checkpoint() async {
        do { try await index.checkpoint() } catch {
            log.debug("the index's log could not be written into it: \(error)")
        }
    }

    /// Gives a report to runs that ended before they began: superseded or cancelled while they waited.
    func archiveUnstarted() async {
        // One at a time: each would find the same runs.
        await archiving.pass { await archiveEachUnstarted() }
    }

    private func archiveEachUnstarted() async {
        do {
            for run in try await index.endedWithoutReport(limit: 1_000) {
                let intents = run.request.runsAtMostOnce ? try await index.intents(of: run.id) : []
                guard
                    let report = Report(
                        unstarted: run, findings: intents.map(\.finding), reproduce: run.request.reproduction,
                        box: .current)
                else { continue }
                try await store.record(report, request: run.request, in: index)
            }
        } catch {
            log.warning("reports of runs that never started can't be archived yet: \(error)")
        }
    }

    /// Packs the archive when many small objects have come together; libgit2 can't, so `git gc` does.
    func maintainArchive() async {
        await sweepFixes()
        do {
            let maintenance = try store.maintenance()
            guard maintenance.isNeeded else { return }
            let result = try await Tool(
                "git", Array(maintenance.command.dropFirst()), deadline: .seconds(1_800)
            ).run()
            if !result.succeeded { log.warning("the archive could not be packed: \(result.text)") }
        } catch {
            log.warning("the archive could not be packed: \(error)")
        }
    }

    /// Makes a copy of the index if there is none of the last day; says why if it can't.
    func backUpIfDue() async {
        guard BoxTools.isBackupDue(made: Store.Index.backupDate(of: state.index), now: Date()) else { return }
        let size = (try? FileManager.default.attributesOfItem(atPath: state.index)[.size] as? NSNumber)?.intValue ?? 0
        guard hasSpace(), (DiskSpace.free(at: state.path) ?? .max) > size + 4 * ReservedDiskSpace.bytes else { return }
        do {
            let index = index
            try await offThread { try index.backUp() }
            clearTrouble("the index can't be copied")
        } catch let error as ArchiveError where error.code == .damagedIndex {
            noteTrouble("the index can't be copied", error)
        } catch {
            log.warning("the index could not be copied; trying again in 10 min: \(error)")
        }
    }
}

enum BoxTools {
    /// Whether a copy of the index made at `made` is not of the last day; one from the future is none either.
    static func isBackupDue(made: Date?, now: Date) -> Bool {
        guard let made else { return true }
        let age = now.timeIntervalSince(made)
        return age >= 86_400 || age < -3_600
    }
}
