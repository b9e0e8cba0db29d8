import Concurrency
import Pipeline
import PlanOrder
import Results

/// How far the steps of a run have come: a value without process, clock or disk.
struct RunProgress {
    let plan: Plan
    var graph: RunGraph
    private var records: [StepRecord]
    private var left = RunOutcome(verdict: .passed, reason: "")
    /// The names of steps that failed and then passed.
    private var flaky: [String] = []
    /// By step, the signal that ends it.
    private var signals: [Int: StopSignal] = [:]
    private var handedOver: [[ResourceUse]] = []
    /// The index of each step, by name.
    private let indices: [String: Int]

    init(_ plan: Plan) {
        self.plan = plan
        graph = RunGraph(plan)
        records = plan.steps.map { StepRecord($0) }
        indices = Dictionary(
            plan.steps.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

    /// Returns the signal that ends the step.
    mutating func begin(_ step: Int) -> StopSignal {
        let signal = StopSignal()
        signals[step] = signal
        return signal
    }

    /// What the steps have left that this step needs, directly or not.
    func earlier(than step: Int) -> EarlierSteps {
        let needed = plan.needs(of: plan.steps[step].name)
        return EarlierSteps(
            records: records.filter { needed.contains($0.name) && $0.status.isFinal },
            artifacts: left.artifacts.filter { needed.contains($0.step) })
    }

    /// Asks the running steps to end, except for those that run after such an end, and lets no other step start.
    mutating func stop(_ request: StopRequest) {
        let isFailure = request.kind == .failFast || request.kind == .limitReached
        graph.stop(because: request.reason, isFailure: isFailure)
        for (step, signal) in signals where graph.states[step] == .running {
            let condition = plan.steps[step].condition
            if condition == .onSuccess || condition == .onFailure && !isFailure { signal.stop(request) }
        }
    }

    /// Notes the end of a step, and returns its record.
    mutating func end(_ step: Int, _ outcome: StepOutcome) -> StepRecord {
        signals[step] = nil
        var record = outcome.record
        StepRunner.withdrawKey(from: plan.steps[step], of: plan, indices, records, &record)
        records[step] = record
        left.add(outcome, to: &records[step])
        if outcome.isFlaky { flaky.append(record.name) }
        if outcome.holdsSlot { handedOver.append(plan.steps[step].resources) }
        graph.end(step, as: record.status)
        return record
    }

    /// The resources of steps that have ended since the last call and whose slots are still taken.
    mutating func takeHandedOver() -> [[ResourceUse]] {
        defer { handedOver = [] }
        return handedOver
    }

    /// The records of steps of which it is known since the last call that they don't run.
    mutating func takeSkipped() -> [StepRecord] {
        graph.takeSkips().map { skip in
            records[skip.step].status = skip.status
            records[skip.step].reason = skip.reason
            return records[skip.step]
        }
    }

    /// Ends the steps that can never start. Only a plan that is not valid leaves such steps; they must not look as if
    /// they could still run.
    mutating func takeStuck() -> [StepRecord] {
        records.indices.filter { !records[$0].status.isFinal }.map { index in
            records[index].status = .infrastructure
            records[index].reason = "the steps it needs can never end; `pipectl validate` shows why"
            return records[index]
        }
    }

    /// The outcome of the run, once all steps have ended.
    ///
    /// - Parameter stopped: The request that stopped the run, if any.
    func outcome(stopped: StopRequest?) -> RunOutcome {
        var outcome = left
        outcome.steps = records
        (outcome.verdict, outcome.reason) = Runner.verdict(of: records, stopped: stopped, flaky: flaky)
        return outcome
    }
}
