import Archive
import Engine
import Foundation
import Git
import Logging
import Pipeline

/// The runs with which the box uses its idle time: they keep bases new, and see that being warm changes no verdict.
extension RunRequest {
    /// The workflow's run on the branch itself, whose workspace changes into the branch then begin from.
    static func refresh(
        _ workflow: String, repository: String, branch: String, commit: String, definition: String
    ) -> RunRequest {
        upkeep(.refresh, workflow, repository, branch, commit, definition, nonce: "refresh")
    }

    static func refresh(_ key: BaseKey, commit: String) -> RunRequest {
        refresh(key.workflow, repository: key.repository, branch: key.branch, commit: commit, definition: commit)
    }

    /// The same tree as a base's, from nothing; each time that it is due it is another run.
    static func cleanRoom(of base: Base, time: Int) -> RunRequest {
        var request = upkeep(
            .cleanRoom, base.key.workflow, base.key.repository, base.key.branch, base.commit, base.commit,
            nonce: "clean room \(time) after run \(base.run)")
        request.warmRun = base.isClean ? nil : base.run
        return request
    }

    /// The tree of a run that failed in a warm workspace, from nothing.
    static func cleanRoom(after failed: Report, branch: String, definition: String) -> RunRequest {
        var request = upkeep(
            .cleanRoom, failed.workflow, failed.repository, branch, failed.testedCommit ?? failed.head, definition,
            nonce: "clean room after run \(failed.id)")
        (request.warmRun, request.warmFailed) = (failed.id, true)
        return request
    }

    private static func upkeep(
        _ kind: Upkeep, _ workflow: String, _ repository: String, _ branch: String, _ commit: String,
        _ definition: String, nonce: String
    ) -> RunRequest {
        var request = RunRequest(
            repository: repository, workflow: workflow, event: .push, ref: "refs/heads/\(branch)", branch: branch,
            head: commit, definitionCommit: definition, nonce: nonce, subject: "\(kind.rawValue) of \(branch)",
            concurrency: .latestOnly)
        request.upkeep = kind
        return request
    }

    /// Whether it begins from nothing, whatever bases there are: what is released, what is compared with warm runs, and
    /// what may be built otherwise than the others by its parameters.
    var beginsFromNothing: Bool {
        runsAtMostOnce || event == .tag || upkeep == .cleanRoom || isClean == true || !parameters.isEmpty
    }
}

extension WorkflowDeclaration {
    /// Whether changes into the branch run it, and nothing runs it on the branch itself.
    func needsRefresh(on branch: String) -> Bool {
        let starts = { (events: Set<Trigger.Event>) in
            triggers.contains { events.contains($0.event) && $0.matches(branch: branch) }
        }
        return starts([.pullRequest]) && !starts([.merge, .push]) && approval == nil
    }
}

extension Plan {
    /// Without the steps that act on the world or wait for a person, and without what needs them: nobody asked for the
    /// run.
    var withoutActing: Plan {
        var left: Set<String> = []
        var plan = self
        // In plan order a step comes after what it needs.
        plan.steps = steps.filter { step in
            let acts = !step.secrets.isEmpty || step.action == .approval || step.needs.contains(where: left.contains)
            if acts { left.insert(step.name) }
            return !acts
        }
        return plan
    }
}

extension Box {
    /// Has the bases made that runs have missed, and targets run that changes could not be held against.
    func makeWantedBases() async {
        // Taken also where nothing is made of it: it would grow for as long as the box runs.
        let (wanted, targets) = (await bases.takeWanted(), await bases.takeWantedTargets())
        if keepsBases { for base in Set(wanted) { await refresh(base) } }
        if learnsTargets { for request in targets { await queueUpkeep(request) } }
    }

    /// Has a base made, once more where the one of an earlier run is lost.
    private func refresh(_ wanted: WantedBase) async {
        guard await !bases.has(wanted.key, at: wanted.commit) else { return }
        let room = (BoxTools.freeBytes(at: state.path) ?? .max) - options.keptFreeBytes
        var request = RunRequest.refresh(wanted.key, commit: wanted.commit)
        request.isMissed = await bases.has(wanted.key) ? nil : true
        if request.isMissed == true { mayMissBases = true }
        while let earlier = await queueUpkeep(request) {
            guard let summary = try? await index.run(earlier)?.summary else { return }
            if request.isMissed == true, summary.state == .queued { try? await index.setMissed(earlier) }
            switch summary.verdict {
            case .passed: guard await bases.isLost(ofRun: earlier, tools: wanted.key.tools, room: room) else { return }
            // It says nothing of the commit; what was in its way may still be.
            case .infrastructure: guard summary.endedAt.map({ $0 + 3_600 < Date() }) == true else { return }
            default: return
            }
            request.nonce = "refresh after run \(earlier)"
        }
    }

    /// Has merged code that failed in a warm workspace tested from nothing: should it pass, it is the workspace that is
    /// broken, and every run would begin from the like until the code changes.
    func doubt(_ report: Report, of request: RunRequest) async {
        guard keepsBases, report.verdict == .failed, report.base != nil, report.trust == .merged,
            request.change == nil, !request.isPartial, request.upkeep == nil || request.upkeep == .refresh,
            let branch = request.branch
        else { return }
        await queueUpkeep(.cleanRoom(after: report, branch: branch, definition: request.definitionCommit))
    }

    /// Has the trees of bases tested from nothing, each as often as the options say.
    func keepClean() async {
        while !Task.isCancelled {
            await bases.flush()
            var known: Set<BaseKey> = []
            for base in await bases.all where known.insert(base.key).inserted {
                let age = Duration.seconds(Date().timeIntervalSince(base.cleanAt))
                // One that is from the future says that the clock was set back.
                if age >= options.cleanRoomInterval || age < .seconds(-3_600) {
                    let time = Int(age.inSeconds / max(options.cleanRoomInterval.inSeconds, 1))
                    await queueUpkeep(.cleanRoom(of: base, time: time))
                }
            }
            let pause = min(Duration.seconds(600), options.cleanRoomInterval)
            do { try await Task.sleep(for: pause) } catch { return }
        }
    }

    /// Returns the run of the same request that there is already.
    @discardableResult
    private func queueUpkeep(_ request: RunRequest) async -> RunID? {
        do {
            let outcome = try await accept(request)
            guard outcome.isNew else { return outcome.run.id }
            log.info("\(request.repository): run \(outcome.run.id) \(request.workflow), \(request.subjectInWords)")
        } catch {
            log.warning("\(request.repository): \(request.subject) could not be queued: \(error)")
        }
        return nil
    }
}

extension ProgramCache {
    /// What a base was built with; first by which way of writing files, so that one of another way is none any more.
    var tools: String { "2 \(toolchain.version) \(toolchain.fileWords) \(BoxImage.words)" }
}
