import Evaluating
package import Preparing
import Workspaces
import Control
import Concurrency
package import Results
import Store
package import Engine
import Foundation
package import Pipeline
package import Placing

/// Receives a run's progress and passes it on: to the live view at once, since the queue depends on it, and to
/// listeners.
package struct RunMonitor: Sendable {
    package let live: LiveBoard
    package let events: EventStream
    package let scheduler: Scheduler
    package let placement: Placement

    package init(live: LiveBoard, events: EventStream, scheduler: Scheduler, placement: Placement) {
        self.live = live
        self.events = events
        self.scheduler = scheduler
        self.placement = placement
    }

    func began(_ task: RunTask) {
        live.begin(
            LiveRun(
                id: task.id, repository: task.request.repository, workflow: task.request.workflow,
                subject: task.request.subjectInWords, phase: .planning, startedAt: task.startedAt,
                logs: "\(task.place.folder)/logs"))
    }

    package func planned(_ plan: Plan, _ id: RunID) {
        let records = plan.steps.map {
            StepRecord(name: $0.name, command: $0.commandLine, needs: $0.needs, allowsFailure: $0.allowsFailure)
        }
        live.update(id) { live in
            (live.phase, live.machine) = (.preparingWorkspace, nil)
            live.steps = records.map { LiveRun.Step(record: $0) }
        }
    }

    /// All steps are proved, so none runs.
    package func proved(_ steps: [StepRecord], _ id: RunID) {
        live.update(id) { live in live.steps = steps.map { LiveRun.Step(record: $0) } }
    }

    /// The run waits for a machine, or has one.
    func place(_ progress: PlaceProgress, _ id: RunID) {
        live.update(id) { live in
            switch progress {
            case .waits(let reason): (live.waitsFor, live.machine) = (reason, nil)
            case .brought(let machine): (live.waitsFor, live.machine) = (nil, machine)
            case .placed(let machine): (live.waitsFor, live.machine) = (nil, machine)
            }
        }
        if case .waits = progress {
            scheduler.note(.waitingForMachine, of: id)
        } else {
            scheduler.note(.running, of: id)
        }
    }

    package func running(_ id: RunID) { live.update(id) { $0.phase = .running } }

    package func step(_ event: RunEvent, of id: RunID, mayWaitForApproval: Bool) {
        live.take(event, of: id)
        events.publish(.step(id, event))
        if case .stepOutput = event { return }
        guard mayWaitForApproval else { return }
        let isParked = live.isParked(id)
        placement.rest(id, isParked)
        scheduler.note(isParked ? .waitingForApproval : .running, of: id)
    }

    /// Lets another run start: the rest of this one needs the disk more than the processor.
    package func stepsEnded(_ task: RunTask) {
        placement.leave(task.id)
        scheduler.note(.finishing, of: task.id)
    }

    package func recorded(_ ending: RunEnding, _ task: RunTask) {
        events.publish(
            .recorded(
                RecordedRun(
                    report: ending.report, request: task.request, tests: ending.draft.tests,
                    repository: task.repository, bisectsWhenRed: ending.bisectsWhenRed,
                    wasPreempted: task.stop.request?.kind == .preempted, wantedRuns: ending.draft.wantedRuns)))
    }

    package func ended(_ id: RunID) {
        placement.leave(id)
        live.end(id)
    }
}
