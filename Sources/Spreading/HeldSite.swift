import Concurrency
import Engine
import MachinePool
import Pipeline
import Results
import Synchronization

/// A machine that is held for one step of a run.
final class HeldSite: StepSite {
    private let sites: Sites
    private let held: HeldMachine
    private let step: PlannedStep
    private let rules: OutputRules
    private let used = Mutex<(site: Site, place: (any OpenPlace)?)?>(nil)

    init(sites: Sites, held: HeldMachine, step: PlannedStep, rules: OutputRules) {
        (self.sites, self.held, self.step, self.rules) = (sites, held, step, rules)
    }

    var machine: String { held.machine.name }

    /// Waits until there is a place on the machine.
    @discardableResult
    func open(_ stop: StopSignal) async throws -> (site: Site, place: any OpenPlace) {
        if let (site, place) = used.withLock({ $0 }), let place { return (site, place) }
        let site = try sites.site(on: held)
        used.withLock { $0 = (site, nil) }
        let place = try await site.place(stop)
        used.withLock { $0 = (site, place) }
        return (site, place)
    }

    func enter(stop: StopSignal) async throws -> any OpenPlace {
        let (site, place) = try await open(stop)
        do {
            try await onOwnThread { [self] in try load(site, place, stop) }
        } catch {
            // A lost machine is the only reason to try another one.
            if place.isLost { throw error }
            sites.keepHere(step)
            throw error as? StepSiteProblem
                ?? StepSiteProblem("what it needs can't be brought to \(machine): \(error)", isOfMachine: true)
        }
        return SitePlace(place: place, own: sites.own, cargo: sites.cargo)
    }

    /// Brings what the step needs and what is not there yet.
    private func load(_ site: Site, _ place: any OpenPlace, _ stop: StopSignal) throws {
        let cargo = sites.cargo
        try site.load.withLock { load in
            for need in cargo.needs(of: step) where !load.steps.contains(need.name) {
                if stop.request != nil { throw CancellationError() }
                if let outputs = try cargo.outputs(of: need, at: sites.own, rules) {
                    try place.restore(outputs, inPlaceOf: stale(need, at: place))
                }
                load.steps.insert(need.name)
            }
            for (name, file) in cargo.values where !load.values.contains(name) {
                try cargo.withCopy(of: file) { try place.add(value: name, from: $0) }
                load.values.insert(name)
            }
        }
    }

    private func stale(_ step: PlannedStep, at place: any OpenPlace) -> StaleOutputs {
        StaleOutputs(
            before: step, in: sites.cargo.plan, tracked: rules.tracked[step.name] ?? [], begunAt: place.begunAt)
    }

    func bringBack(_ stored: StoredOutputs?) async throws {
        guard let (site, place) = used.withLock({ $0 }), let place, !step.outputs.isEmpty,
            !sites.cargo.plan.dependants(of: step.name).isEmpty
        else { return }
        try await onOwnThread { [self] in
            let outputs = try stored ?? sites.cargo.pack(step, at: place, rules)
            if let outputs { try sites.own.restore(outputs, inPlaceOf: stale(step, at: sites.own)) }
            sites.cargo.note(outputs, of: step.name)
            site.load.withLock { _ = $0.steps.insert(step.name) }
        }
    }

    func leave() async {
        let (site, place) = used.withLock { ($0?.site, $0?.place) }
        if let site, !held.isShared || place?.isLost == true {
            site.end()
            // Others learn that the machine is lost before it is given to somebody again.
            await site.untilClosed()
        }
        // What was allocated is given back when nothing is left of it, even if nobody waits for that here.
        if held.isShared || site == nil { sites.machines.leave(held) }
    }
}
