import Watching
import Running
import Control
import Results
import Store

extension LiveBoard {
    /// What is recorded of a run, and how far it is if it is live; nil if there is no such run.
    func state(of id: RunID, _ index: Store.Index) async throws -> (run: IndexedRun, live: LiveRun?)? {
        guard let run = try await index.run(id) else { return nil }
        let live = self.run(id)
        // It may have ended between the two looks.
        if live == nil, run.summary.state == .running, let again = try await index.run(id) { return (again, nil) }
        return (run, live)
    }

    /// Why a run waits for an older one of its subject, in words, and whether that is held before its first step.
    func wait(for older: RunID, _ index: Store.Index) async throws -> (words: String, isHeld: Bool) {
        let step = run(older)?.steps.first(where: \.awaitsApproval)?.record.name
        let isHeld = step == nil ? try await index.run(older)?.summary.heldFor != nil : false
        guard step != nil || isHeld else { return ("waiting for run \(older), which is older", false) }
        return ("waiting for run \(older), which needs approval: \(Approval.command(older, step: step))", isHeld)
    }
}

/// Answers requests about one run: its state and its progress.
struct RunQueries: Sendable {
    let index: Store.Index
    let board: LiveBoard
    let links: PageLinks

    func detail(_ id: RunID) async throws -> RunDetail {
        guard let (run, live) = try await board.state(of: id, index) else { throw RequestError.unknownRun(id) }
        let queue = run.summary.state == .queued ? try await index.queued() : []
        var detail = RunDetail(
            summary: run.summary, live: live, behind: queue.firstIndex { $0.id == id },
            held: Report(held: run))
        if let older = queue.first(where: { $0.id == id })?.waitsFor {
            detail.waitsFor = try await board.wait(for: older, index).words
        }
        detail.page = links.page(of: id)
        return detail
    }

    /// Sends each state of the run until it has ended.
    func follow(_ id: RunID, _ reply: @Sendable (DaemonReply) async throws -> Void) async throws {
        var revision = 0
        var lastBehind = -1
        while true {
            try Task.checkCancellation()
            let seen = board.changes
            if let live = await board.next(id, after: revision), live.revision != revision {
                revision = live.revision
                try await reply(.progress(.live(links.named(live))))
                // A state contains every step, and each event makes a new state, so for long runs they are sent less
                // often.
                if live.steps.count > 16 {
                    let pause = Duration.milliseconds(min(live.steps.count / 8, 100))
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask { await board.waitForEnd(of: id) }
                        group.addTask { try? await Task.sleep(for: pause) }
                        await group.next()
                        group.cancelAll()
                    }
                }
                continue
            }
            guard let run = try await index.run(id) else { throw RequestError.unknownRun(id) }
            if run.summary.state == .ended, let verdict = run.summary.verdict {
                try await reply(.progress(.ended(verdict, reason: run.summary.reason ?? "")))
                return
            }
            if let why = run.summary.heldFor {
                // The approval may come at any time, so the client is told the verdict now.
                try await reply(.progress(.ended(.needsApproval, reason: why)))
                return
            }
            if run.summary.state == .queued {
                let queue = try await index.queued()
                if let first = queue.first(where: { $0.id == id })?.waitsFor {
                    // Runs of one subject keep their order, even if the first waits for approval.
                    let wait = try await board.wait(for: first, index)
                    if wait.isHeld {
                        try await reply(.progress(.ended(.needsApproval, reason: wait.words)))
                        return
                    }
                }
                let behind = queue.firstIndex { $0.id == id } ?? 0
                if behind != lastBehind { try await reply(.progress(.queued(behind: behind))) }
                lastBehind = behind
            }
            // The position in the queue can change without the run, so it is checked again after a while.
            await board.waitForChange(of: id, since: seen, atMost: .seconds(2))
        }
    }
}
