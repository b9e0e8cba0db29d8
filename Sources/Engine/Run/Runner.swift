package import Concurrency
package import Pipeline
import Results
package import StepSlots

/// Runs a plan: one task for each step, at most as many at a time as there are slots.
package struct Runner: Sendable {
    let setting: RunSetting
    let pool: SlotPool
    let emit: @Sendable (RunEvent) async -> Void

    /// - Parameters:
    ///   - pool: The slots, shared by all runs of the daemon.
    ///   - emit: Receives each event. It is awaited, so a full listener slows the run instead of losing events.
    package init(setting: RunSetting, pool: SlotPool, emit: @escaping @Sendable (RunEvent) async -> Void) {
        self.setting = setting
        self.pool = pool
        self.emit = emit
    }

    /// Runs a valid plan to its end. It never throws: every failure is part of the outcome.
    ///
    /// - Parameter stop: Ends running steps and keeps others from starting; `always` steps still run. Cancelling the
    ///   task ends those too.
    package func run(_ plan: Plan, stop: StopSignal) async -> RunOutcome {
        let plan = setting.limited(plan)
        do {
            try await offThread { try setting.makeFolders(for: plan) }
            var (outcome, isAllEnded) = try await setting.place.open(for: plan) { place in
                var steps = StepRunner(setting: setting, pool: pool, emit: emit, place: place)
                if place.sites != nil { steps.elsewhere = pool.elsewhere(slots: plan.steps.count) }
                let outcome = await steps.run(plan, stop: stop)
                setting.finished?()
                return outcome
            }
            outcome.isAllEnded = isAllEnded
            return outcome
        } catch {
            let reason = (error as? PlaceProblem)?.reason ?? "the run's folder can't be made: \(error)"
            return Runner.unstartable(plan, reason)
        }
    }

    private static func unstartable(_ plan: Plan, _ reason: String) -> RunOutcome {
        var outcome = RunOutcome(verdict: .infrastructure, reason: reason)
        outcome.steps = plan.steps.map { step in
            var record = StepRecord(step)
            (record.status, record.reason) = (.infrastructure, reason)
            return record
        }
        return outcome
    }
}
