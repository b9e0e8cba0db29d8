import Pipeline
import PlanOrder
import StepSlots

/// The queue of one run's steps for the daemon's slots, in the order in which they are to start.
struct StepQueue: Sendable {
    /// A step's turn to be run.
    struct Turn: Sendable {
        var position: SlotPool.Turn
        /// Its ticket in the pool's queue; nil for a step that starts no process, and for further attempts.
        var ticket: Int?
        /// Whether other steps wait for the end of this one. Then its slot is released only when they are enqueued.
        var handsOver: Bool

        /// The position of a further attempt, which has to wait again.
        var again: Turn { Turn(position: position, ticket: nil, handsOver: handsOver) }
    }

    private let runner: StepRunner
    private let plan: Plan
    private let run: Int
    private let places: [Int]
    private let needed: Set<String>

    init(runner: StepRunner, plan: Plan) {
        self.runner = runner
        self.plan = plan
        run = runner.pool.takeRunNumber()
        let order = runner.setting.order?.places ?? []
        places = order.count == plan.steps.count ? order : Array(plan.steps.indices)
        needed = Set(plan.steps.flatMap(\.needs))
    }

    /// Enqueues ready steps in order. This happens here, because the steps' tasks start in an unknown order.
    func enqueue(_ ready: [Int]) -> [(step: Int, turn: Turn)] {
        ready.sorted { places[$0] < places[$1] }.map { step in
            let wants = plan.steps[step]
            let position = SlotPool.Turn(run: run, place: places[step])
            let ticket = runner.needsSlot(wants, at: step) ? runner.pool.reserve(wants.resources, turn: position) : nil
            return (step, Turn(position: position, ticket: ticket, handsOver: needed.contains(wants.name)))
        }
    }
}

extension StepRunner {
    /// Whether the step starts a process on the run's machine, as far as that is known in advance.
    func needsSlot(_ step: PlannedStep, at index: Int) -> Bool {
        step.action.startsProcess && setting.kept?.outcome(of: index) == nil
            && ![.other, .rather].contains(place.sites?.reach(of: step))
            && setting.reviews[step.name]?.isKnown != true && setting.proved[step.name] == nil
            && setting.carried[step.name] == nil
            && pool.impossibility(of: step.resources) == nil
            && setting.secrets.obstacle(to: step) == nil
    }
}
