import Watching
import Preparing
import Evaluating
import Workspaces
import Results
import Store
import Archive
import Concurrency
import Engine
import Foundation
import Pipeline
import TestIntegrity

/// Takes one claimed run through its phases to its verdict. Every error becomes part of the report.
struct RunPipeline: Sendable {
    let prepare: PreparePhase
    let approve: ApprovalPhase
    let lookUp: ProofSearch
    let provide: ProvidePhase
    let execute: ExecutePhase
    let evaluate: Evaluation
    /// Reads the Swift files of a change, concurrently with its steps.
    let reader: any SwiftSourceReader
    let record: RunRecorder
    let release: ReleasePhase
    let monitor: RunMonitor

    func run(_ task: RunTask) async -> Report {
        var start = ContinuousClock.now
        // An earlier life of the daemon has begun it.
        if task.left != nil { start = start - .seconds(max(0, Date().timeIntervalSince(task.startedAt))) }
        monitor.began(task)
        var ending = await ending(of: task)
        if let left = task.left, ending.place == nil { await settle(left, &ending, task) }
        if let reason = ending.putBack { return await putBack(ending, reason, task) }
        monitor.stepsEnded(task)
        // The wall clock may be set during the run, so the duration comes from a monotonic clock.
        ending.report.endedAt = task.startedAt.addingTimeInterval((ContinuousClock.now - start).inSeconds)
        if ending.report.verdict == .superseded { ending.report.supersededBy = await record.successor(of: task.id) }
        let isRecorded = await record.record(
            ending.report, task.request, tests: ending.draft.tests, files: files(ending, task))
        if isRecorded { monitor.recorded(ending, task) }
        monitor.ended(task.id)
        await release.release(ending.place, task, report: isRecorded ? ending.report : nil)
        return ending.report
    }

    /// All phases up to the verdict.
    private func ending(of task: RunTask) async -> RunEnding {
        var ending = RunEnding(report: Report(starting: task.run, at: task.startedAt))
        do {
            let prepared = try await prepare.prepare(task)
            ending.take(prepared)
            async let sources = ChangeSources.outcome(of: prepared, in: task.repository, reader)
            ending.take(try await steps(task, prepared), prepared)
            ending.report.approvals = await approve.approvals(prepared, task.id)
            let finished = FinishedRun(
                run: task.run, prepared: prepared, repository: task.repository, sources: await sources)
            await evaluate.evaluate(&ending.draft, of: finished)
            switch await approve.parking(task, prepared, ending.report) {
            case .putBack(let reason): ending.putBack = reason
            case .ends(let reason): ending.report.reason = reason
            case nil: break
            }
        } catch PlaceWaitEnd.shutdown {
            switch await approve.requeue(
                task.run, reason: "the daemon was shut down while the run waited for a machine; it starts again")
            {
            case .putBack(let reason): ending.putBack = reason
            case .ends(let reason): (ending.report.verdict, ending.report.reason) = (.cancelled, reason)
            }
        } catch let early as EarlyVerdict {
            // Without a plan nothing says which steps act.
            if task.request.runsAtMostOnce, ending.report.testedTree == nil {
                ending.report.reproduce = "pipectl rerun \(task.id)"
            }
            if let question = early.question, await approve.hold(task, for: question, early.trust ?? .change) {
                ending.report.trust = early.trust ?? ending.report.trust
                ending.putBack = question.why
            } else {
                ending.take(early, stop: task.stop.request)
            }
        } catch {
            ending.take(error)
        }
        return ending
    }

    /// The phases that need the plan: look up proofs, provide a workspace, run the remaining steps.
    private func steps(_ task: RunTask, _ prepared: RunPreparation) async throws -> EndedSteps {
        // Concurrent with the preparation of the first step, which waits for it.
        async let isAccepted: Void = record.flushAcceptance(of: task.run)
        monitor.planned(prepared.plan, task.id)
        let proofs = await lookUp.proofs(for: prepared, of: task.run, in: task.repository)
        if task.request.resumes == nil, task.left == nil, let settled = proofs.settled(prepared.plan) {
            await provide.skip(task, prepared)
            monitor.proved(settled.steps, task.id)
            return EndedSteps(outcome: settled, review: await prepare.definitionReview(task, prepared))
        }
        var (provided, kept) = try await firstPlace(task, prepared, proofs)
        // Concurrent with the steps, so that a long compilation does not lengthen the run.
        async let review = prepare.definitionReview(task, prepared)
        await isAccepted
        var (losses, adoptions): ([Finding], Int) = ([], 0)
        while true {
            let valid = await valid(proofs, where: provided, task, prepared)
            var outcome = await execute.execute(
                task, prepared, valid, provided, kept: kept, journal: record.journal(of: task.run))
            let finished = await provide.close(provided, task, prepared, outcome: &outcome)
            if let trace = finished.place.trace, let kept, outcome.isLost(task), adoptions < Self.mostAdoptions {
                adoptions += 1
                monitor.planned(prepared.plan, task.id)
                if let again = try await adopt(trace, kept, task, prepared, proofs, losses: losses.count) {
                    provided = again
                    continue
                }
            }
            if let loss = outcome.loss(of: finished.place, task, losses: losses.count) {
                losses.append(loss)
                await finished.place.release(nil)
                try await removeResults(of: task)
                monitor.planned(prepared.plan, task.id)
                (provided, kept) = try await newPlace(task, prepared, proofs, losses: losses.count)
                continue
            }
            outcome.findings += losses
            if provided.place.resumption == nil {
                await lookUp.judge(&outcome, by: valid, prepared, task.run, in: task.repository)
            }
            return EndedSteps(
                outcome: outcome, review: await review, place: finished.place, fix: finished.fix, task: finished.task)
        }
    }

    /// The proofs that count where the run is.
    private func valid(
        _ proofs: RunProofs, where provided: ProvidePhase.Provided, _ task: RunTask, _ prepared: RunPreparation
    ) async -> RunProofs {
        guard let machine = provided.place.elsewhere else { return proofs }
        let proofs = await lookUp.proofs(for: prepared, of: task.run, in: task.repository, on: machine)
        // A machine that lies would say the same again.
        provided.place.check(proofs.sampled)
        return proofs
    }

    /// How many places like the one of this run the next runs of its repository may soon need.
    func nextPlaces(_ task: RunTask) -> (@Sendable () -> Int)? {
        guard task.request.background == nil else { return nil }
        let (name, most, live) = (task.request.repository, execute.options.slots, monitor.live)
        return { min(live.count(of: name), most) }
    }

    /// Ends a run that has no verdict yet; nothing of it is archived.
    private func putBack(_ ending: RunEnding, _ reason: String, _ task: RunTask) async -> Report {
        var report = ending.report
        (report.verdict, report.reason, report.endedAt) = (.needsApproval, reason, Date())
        monitor.ended(task.id)
        await release.putBack(ending.place, task)
        return report
    }

    private func files(_ ending: RunEnding, _ task: RunTask) -> RunFiles {
        let folder = task.place.folder
        // A verdict before the first step leaves no folder.
        let hasLogs = FileManager.default.fileExists(atPath: "\(folder)/logs")
        return RunFiles(
            logs: hasLogs ? "\(folder)/logs" : nil, results: "\(folder)/results", resultFiles: ending.resultFiles,
            artifacts: "\(folder)/artifacts")
    }
}

extension RunOutcome {
    /// Whether the run ended only because its place was lost.
    fileprivate func isLost(_ task: RunTask) -> Bool { verdict == .infrastructure && task.stop.request == nil }

    /// The loss of the machine, if the run is begun again because of it; nil for any other end.
    ///
    /// A run whose steps must not run twice is not, once a step has been tried.
    func loss(of place: any FinishedPlace, _ task: RunTask, losses: Int) -> Finding? {
        guard let lost = place.lost, verdict == .infrastructure, task.stop.request == nil, losses < 2,
            !task.request.runsAtMostOnce || steps.allSatisfy(\.attempts.isEmpty)
        else { return nil }
        return Finding(
            rule: "machine-lost", severity: .note, message: "\(lost); the run was begun again", file: nil, line: nil,
            column: nil, suggestion: nil)
    }
}
