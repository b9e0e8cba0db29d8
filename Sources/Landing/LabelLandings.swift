import Control
import DaemonLog
import Git
package import Logging
import MergeQueue
import Pipeline
import Results
package import Running
import Store
package import Watching

/// Puts changes in line that have the label which their target declares, and takes them out when the label is gone.
package struct LabelLandings: Sendable {
    let repository: WatchedRepository
    let handler: LandingHandler
    let log: Logger

    package init(repository: WatchedRepository, handler: LandingHandler, log: Logger) {
        (self.repository, self.handler, self.log) = (repository, handler, log)
    }

    private var index: Store.Index { handler.queues.index }

    /// Goes on until the task is cancelled: after news.
    package func run(_ news: ChangeNotifier) async {
        while !Task.isCancelled {
            let seen = news.mark(of: [])
            do {
                try await pass()
            } catch is CancellationError {
                return
            } catch {
                log.warning(
                    "\(repository.name): labels of changes are not looked at: \(error)",
                    metadata: .code(.queueStopped, repository: repository.name))
            }
            await news.wait(since: seen)
            // Several news come together.
            do { try await Task.sleep(for: .seconds(1)) } catch { return }
        }
    }

    /// Compares the labels of all changes with the queues. What it does may be repeated.
    func pass() async throws {
        let labelled = try await index.labelledForgeChanges(of: repository.name)
        try await takeOut(except: labelled)
        var labels: [String: String?] = [:]
        for change in labelled where change.facts.isOpen && !change.facts.isDraft {
            let target = change.facts.target
            let label = if let known = labels[target] { known } else { try await declaredLabel(of: target) }
            labels[target] = label
            if let label { try await putIn(change, label) }
        }
    }

    private func declaredLabel(of branch: String) async throws -> String? {
        let ref = "refs/heads/\(branch)"
        guard let tip = try await withRepository(at: repository.gitDirectory, { try $0.ref(ref) }) else { return nil }
        return try await handler.declarations.find(for: branch, at: tip, in: repository)?.landing.label
    }

    private func takeOut(except labelled: [ForgeChangeRecord]) async throws {
        for queue in try await handler.queues.all(of: repository.name) {
            for entry in queue.state.entries {
                guard let label = entry.label,
                    labelled.first(where: { $0.name == entry.change })?.labels[label] == nil
                else { continue }
                try await handler.takeOut(entry.change, unlabelledIn: queue)
            }
        }
    }

    private func putIn(_ change: ForgeChangeRecord, _ label: String) async throws {
        let head = change.facts.head
        guard let mark = change.labels[label], mark.done != head,
            // What the forge says and what is here must be the same push.
            let record = try await index.change(change.name, of: repository.name), record.head == head,
            record.target == change.facts.target, try await isAllowed(change.facts, mark, record.name)
        else { return }
        do {
            _ = try await handler.land(
                LandRequest(repository: repository.name, change: change.name, head: head), by: "the label \(label)",
                label: label)
        } catch let error as RequestError where error.code == .notLandable {
            log.notice(
                "\(repository.name): change \(change.name) has the label \(label) and does not land: \(error)",
                metadata: .code(.changeNotQueued, repository: repository.name, ["change": change.name]))
        }
        try await index.noteLabel(label, done: head, of: change.name, in: repository.name)
    }

    /// Whether the label is good for this head.
    ///
    /// Who may push could also set the label. A head of anybody else must be the one that was labelled, and its runs must
    /// have been allowed to run: the runs of the queue need no approval on account of who pushed.
    private func isAllowed(_ facts: ChangeFacts, _ mark: LabelMark, _ change: String) async throws -> Bool {
        if facts.pusher?.standing == .writer { return true }
        guard mark.head == facts.head else { return false }
        let filter = RunFilter(
            repository: repository.name, change: change, commitPrefix: facts.head, limit: 200)
        return Self.haveRun(
            try await index.runs(filter).filter { $0.head == facts.head && $0.upkeep == nil && !$0.isAside })
    }

    /// Whether the newest run of each workflow has ended, none without the approval that it needs, and one with a result.
    ///
    /// Of a run that waits for its turn it is not known yet whether it needs approval.
    static func haveRun(_ runs: [RunSummary]) -> Bool {
        let newest = Dictionary(runs.map { ($0.workflow, $0) }) { $0.id > $1.id ? $0 : $1 }.values
        return newest.allSatisfy { $0.state == .ended && $0.heldFor == nil && $0.verdict != .needsApproval }
            && newest.contains { [.passed, .failed, .flaky].contains($0.verdict) }
    }
}
