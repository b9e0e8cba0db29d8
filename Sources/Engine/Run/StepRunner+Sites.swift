import Concurrency
import Pipeline
import Results
import StepSlots
import SystemPackage

/// Finds the machine of a step: the run's own, or another one.
extension StepRunner {
    /// How often a step is begun again because its other machine was lost.
    static let mostLosses = 2

    /// Where a step may run now.
    enum Seat: Sendable {
        /// On the run's machine, where it holds a slot and its resources.
        case own
        case other(any StepSite, any OpenPlace)
        /// Nowhere; with the status of the step and the reason.
        case none(StepStatus, String)
    }

    /// The runner for a step on another machine.
    func at(_ place: any OpenPlace, of site: any StepSite) -> StepRunner {
        var runner = self
        (runner.place, runner.machine) = (place, site.machine)
        return runner
    }

    func seat(_ step: PlannedStep, _ turn: StepQueue.Turn, _ stop: StopSignal) async -> Seat {
        // What the daemon does itself takes no slot.
        guard step.action.startsProcess else { return stop.request.map { .none(.cancelled, $0.reason) } ?? .own }
        let reach = place.sites?.reach(of: step) ?? .own
        guard let sites = place.sites, reach != .own else { return await ownSeat(step, turn, stop) }
        if reach == .other { return await otherSeat(step, turn, sites, stop) }
        if reach == .rather {
            if let seat = await freeSeat(step, sites, stop) { return seat }
            return await ownSeat(step, turn, stop)
        }
        let found = await pool.acquire(reserve(step, turn), step.resources, stop) {
            try? await sites.hold(step, outputRules, stop, say: { _ in })
        } leave: {
            await $0.leave()
        }
        guard let site = found.other else { return found.isGranted ? .own : stopped(stop) }
        do { return .other(site, try await site.enter(stop: stop)) } catch {
            // Nothing was started there, and the run's own machine can do it.
            await leave(step, site)
            return await ownSeat(step, turn.again, stop)
        }
    }

    /// Another machine that is free now; nil if there is none, or if it can't be used.
    private func freeSeat(_ step: PlannedStep, _ sites: any StepSites, _ stop: StopSignal) async -> Seat? {
        guard let site = try? await sites.hold(step, outputRules, stop, say: { _ in }) else { return nil }
        do { return .other(site, try await site.enter(stop: stop)) } catch {
            await leave(step, site)
            return nil
        }
    }

    private func ownSeat(_ step: PlannedStep, _ turn: StepQueue.Turn, _ stop: StopSignal) async -> Seat {
        await pool.acquire(reserve(step, turn), step.resources, stop) ? .own : stopped(stop)
    }

    private var outputRules: OutputRules {
        OutputRules(limits: setting.fileLimits, masker: setting.secrets.masker, tracked: setting.tracked)
    }

    private func stopped(_ stop: StopSignal) -> Seat { .none(.cancelled, stop.request?.reason ?? "cancelled") }

    /// The step's ticket for a slot; listeners are told why it waits.
    private func reserve(_ step: PlannedStep, _ turn: StepQueue.Turn) async -> Int {
        let ticket = turn.ticket ?? pool.reserve(step.resources, turn: turn.position)
        if !pool.isGranted(ticket), let reason = pool.obstacle(to: step.resources) {
            await emit(.stepWaiting(step: step.name, reason: reason))
        }
        return ticket
    }

    private func otherSeat(
        _ step: PlannedStep, _ turn: StepQueue.Turn, _ sites: any StepSites, _ stop: StopSignal
    ) async -> Seat {
        var failures = 0
        while stop.request == nil, !Task.isCancelled {
            do {
                let site = try await waiting(for: step) { try await sites.hold(step, outputRules, stop, say: $0) }
                // Who holds a resource never waits for a machine.
                if let elsewhere, !step.resources.isEmpty {
                    let ticket = elsewhere.reserve(step.resources, turn: turn.position)
                    guard await elsewhere.acquire(ticket, step.resources, stop) else {
                        await site.leave()
                        break
                    }
                }
                do { return .other(site, try await site.enter(stop: stop)) } catch {
                    await leave(step, site)
                    failures += 1
                    if error is StepSiteProblem || failures == setting.mostSites { throw error }
                }
            } catch {
                if stop.request != nil || Task.isCancelled { break }
                let isOfMachine = (error as? StepSiteProblem)?.isOfMachine ?? true
                return .none(isOfMachine ? .infrastructure : .failed, "\(error)")
            }
        }
        return stopped(stop)
    }

    /// Calls `body`, and tells listeners why the step waits meanwhile.
    private func waiting<Value: Sendable>(
        for step: PlannedStep, _ body: (_ say: @escaping @Sendable (String) -> Void) async throws -> Value
    ) async throws -> Value {
        let (reasons, more) = AsyncStream<String>.makeStream(bufferingPolicy: .bufferingNewest(1))
        async let told: Void = {
            for await reason in reasons { await emit(.stepWaiting(step: step.name, reason: reason)) }
        }()
        let value: Result<Value, any Error>
        do { value = .success(try await body { more.yield($0) }) } catch { value = .failure(error) }
        more.finish()
        await told
        return try value.get()
    }

    /// Makes what the step left known to those that need it.
    func bringBack(_ step: PlannedStep, _ site: (any StepSite)?, _ outcome: inout StepOutcome) async {
        let stored = outcome.record.outputs.map {
            StoredOutputs(path: setting.artifacts.appending($0.sha256).string, sha256: $0.sha256)
        }
        guard let site else {
            if let stored { place.sites?.note(stored, of: step) }
            return
        }
        guard outcome.record.status != .cancelled, outcome.record.status != .infrastructure else { return }
        do { try await site.bringBack(stored) } catch {
            guard outcome.record.status == .passed else { return }
            let problem = error as? StepSiteProblem ?? StepSiteProblem("\(error)", isOfMachine: true)
            outcome = finished(
                outcome, problem.isOfMachine ? .infrastructure : .failed,
                problem.reason + (problem.isOfMachine ? byHand(step) : ""))
            (outcome.record.key, outcome.record.outputs, outcome.isFlaky) = (nil, nil, false)
        }
    }

    /// Gives back what a step on another machine held.
    func leave(_ step: PlannedStep, _ site: (any StepSite)?) async {
        guard let site else { return }
        if let elsewhere, !step.resources.isEmpty { elsewhere.release(step.resources) }
        await site.leave()
    }
}

extension StepOutcome {
    /// What is left of an outcome whose machine was lost: its attempts, none of which counts.
    func begunAgain(since before: StepOutcome, at machine: String) -> StepOutcome {
        var (outcome, reason) = (before, record.reason ?? "its place is gone")
        outcome.record.attempts = record.attempts
        for index in record.attempts.indices.dropFirst(before.record.attempts.count) {
            (outcome.record.attempts[index].status, outcome.record.attempts[index].reason) = (.infrastructure, reason)
        }
        reason = "\(machine) was lost, and step \"\(record.name)\" was begun again: \(reason)"
        outcome.findings.append(Finding(rule: "machine-lost", severity: .note, message: reason))
        return outcome
    }
}
