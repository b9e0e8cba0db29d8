import Concurrency
import Pipeline
import PlanOrder
import Results
import StepSlots

/// Runs the steps of one plan at a place.
struct StepRunner: Sendable {
    let setting: RunSetting
    let pool: SlotPool
    let emit: @Sendable (RunEvent) async -> Void
    /// The run's own, or that of the one step that runs on another machine.
    var place: any OpenPlace
    /// The name of that other machine.
    var machine: String?
    /// The resources for steps on other machines, whose slots nobody here counts.
    var elsewhere: SlotPool?
    /// For a step of a release, what the steps before it have left.
    var earlier = EarlierSteps()

    private enum Message: Sendable {
        case stepEnded(Int, StepOutcome)
        case stop(StopRequest)
        case nothing
    }

    /// Runs all steps to their ends.
    func run(_ plan: Plan, stop: StopSignal) async -> RunOutcome {
        var progress = RunProgress(plan)
        await withTaskGroup(of: Message.self) { group in
            group.addTask { await stop.wait().map { Message.stop($0) } ?? .nothing }
            if let limit = plan.limits.wallTime {
                let left = limit - (setting.kept?.age ?? 0)
                group.addTask {
                    do { try await Task.sleep(for: .seconds(max(0, left))) } catch { return .nothing }
                    return .stop(
                        StopRequest(
                            .limitReached,
                            reason: "wall time: \(Figures.duration(limit)) limit reached by the run"))
                }
            }
            let queue = StepQueue(runner: self, plan: plan)
            while true {
                for (step, turn) in queue.enqueue(progress.graph.takeReady()) {
                    let signal = progress.begin(step)
                    var runner = self
                    if !plan.steps[step].action.startsProcess { runner.earlier = progress.earlier(than: step) }
                    group.addTask { [runner] in
                        .stepEnded(step, await runner.runStep(step, of: plan, turn: turn, stop: signal))
                    }
                }
                // The slots are released only now, because a step that becomes ready by this one's end must be in the
                // queue first.
                for uses in progress.takeHandedOver() { pool.release(uses) }
                for record in progress.takeSkipped() { await emit(.stepEnded(record)) }
                if progress.graph.isFinished || progress.graph.isStuck { break }
                guard let message = await group.next() else { break }
                switch message {
                case .nothing: continue
                case .stop(let request): progress.stop(request)
                case .stepEnded(let step, let outcome): await end(step, outcome, &progress)
                }
            }
            group.cancelAll()
        }
        for record in progress.takeStuck() { await emit(.stepEnded(record)) }
        return progress.outcome(stopped: stop.request)
    }

    private func end(_ step: Int, _ outcome: StepOutcome, _ progress: inout RunProgress) async {
        let record = progress.end(step, outcome)
        if !outcome.tests.isEmpty || !outcome.findings.isEmpty {
            await emit(.stepLeft(step: record.name, tests: outcome.tests, findings: outcome.findings))
        }
        await emit(.stepEnded(record))
        if progress.plan.failFast, record.status.isFailure, !record.allowsFailure {
            progress.stop(StopRequest(.failFast, reason: "\"\(record.name)\" failed and the workflow fails fast"))
        }
    }
}
