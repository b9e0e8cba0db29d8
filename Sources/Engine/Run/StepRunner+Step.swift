import Concurrency
import Results
import Foundation
import Pipeline
import SystemPackage
import StepSlots

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The result of a step and what it left.
struct StepOutcome: Sendable, Codable {
    var record: StepRecord
    var tests: [TestResult] = []
    var findings: [Finding] = []
    /// Findings of tools in the attempt that says most; they end up in ``findings``.
    var diagnostics: [Finding] = []
    var artifacts: [ArtifactRecord] = []
    var resultFiles: [String] = []
    /// Whether the step failed and then passed on the same tree.
    var isFlaky = false
    /// Whether its slot and resources are still taken; the runner hands them to the next step.
    var holdsSlot = false
}

extension StepRunner {
    /// Runs the attempts of a step and waits for a slot before each.
    ///
    /// - Parameter index: The index of the step in the plan.
    func runStep(_ index: Int, of plan: Plan, turn: StepQueue.Turn, stop: StopSignal) async -> StepOutcome {
        if let known = setting.kept?.outcome(of: index) { return known }
        var outcome = StepOutcome(record: StepRecord(plan.steps[index]))
        if plan.steps[index].testRunner != nil { outcome.record.runsNamedTests = true }
        // Other runs may have proved it since it began in an earlier life, and its command may still run.
        let mayCite = setting.kept?.hasBegun(index) != true
        if let known = await withoutRunning(plan.steps[index], of: plan, mayCite: mayCite, &outcome, stop) {
            outcome = known
        } else {
            await runAttempts(index, of: plan, turn, stop, into: &outcome)
        }
        // Any sentence about a step may hold text that the step chose, such as the name of a file or a test.
        let ended = setting.secrets.masker.map { outcome.masked(by: $0) } ?? outcome
        // A step that is only cited is cited again, unless its outputs are in the workspace.
        if ended.record.provedBy == nil || setting.proved[ended.record.name]?.restores != nil {
            setting.kept?.keep(ended, of: index)
        }
        return ended
    }

    /// The outcome of a step of which no command is run; nil if one is.
    private func withoutRunning(
        _ step: PlannedStep, of plan: Plan, mayCite: Bool, _ outcome: inout StepOutcome, _ stop: StopSignal
    ) async -> StepOutcome? {
        if step.action == .approval { return await awaitApproval(of: step, stop) }
        if stop.request == nil {
            if let known = knownReview(step) { return known }
            let (cited, surprise) = mayCite ? await cite(step, of: plan) : (nil, nil)
            if let cited { return cited }
            outcome.findings += surprise.map { [$0] } ?? []
        }
        if let reason = pool.impossibility(of: step.resources) {
            return finished(outcome, .infrastructure, "\(reason); it could never start")
        }
        return setting.secrets.obstacle(to: step).map { finished(outcome, .infrastructure, $0) }
    }

    private func runAttempts(
        _ index: Int, of plan: Plan, _ turn: StepQueue.Turn, _ stop: StopSignal, into outcome: inout StepOutcome
    ) async {
        let step = plan.steps[index]
        var (number, losses) = (1, 0)
        while true {
            let before = outcome
            let (runner, site): (StepRunner, (any StepSite)?)
            switch await seat(step, number == 1 && losses == 0 ? turn : turn.again, stop) {
            case .own: (runner, site) = (self, nil)
            case .other(let held, let place): (runner, site) = (at(place, of: held), held)
            case .none(let status, let reason): return outcome = finished(outcome, status, reason)
            }
            let attempt = await runner.attempts(of: step, at: index, stop, into: &outcome)
            // If a command had effects and its results could not be stored, it is not run again.
            let isUndone = attempt.record.status != .infrastructure || !attempt.hasActed || mayRepeat(step)
            let again =
                number <= step.retry.count && stop.request == nil && isUndone
                && attempt.record.deserves(step.retry.condition)
            if site == nil, step.action.startsProcess {
                outcome.holdsSlot = !again && turn.handsOver
                if !outcome.holdsSlot { pool.release(step.resources) }
            }
            await add(attempt, to: &outcome)
            if !again {
                conclude(&outcome)
                await runner.collect(of: step, in: plan, into: &outcome)
                await bringBack(step, site, &outcome)
            }
            let isLost = site != nil && runner.place.isLost && outcome.record.status == .infrastructure
            await leave(step, site)
            if isLost, losses < StepRunner.mostLosses, stop.request == nil, !attempt.hasActed || mayRepeat(step) {
                losses += 1
                outcome = outcome.begunAgain(since: before, at: site?.machine ?? "")
                continue
            }
            guard again else { return }
            let pause = step.retry.backoff.pause(beforeAttempt: number + 1)
            number += 1
            if pause > 0, let request = await firstStop(stop, within: .seconds(pause)) {
                return outcome = finished(outcome, .cancelled, request.reason)
            }
        }
    }

    /// Makes one attempt, and further ones of its failed tests alone. All but the last are added to the outcome.
    private func attempts(
        of step: PlannedStep, at index: Int, _ stop: StopSignal, into outcome: inout StepOutcome
    ) async -> Attempt {
        let first = outcome.record.attempts.count + 1
        var attempt = await runAttempt(first, of: step, at: index, stop: stop)
        // This comes before the slot is released and before any step that needs this one may start.
        await setting.journal?.end(step.name, attempt.record)
        demand(&attempt, of: step)
        var known = attempt.tests
        // The slot stays taken: a test's second attempt must find what the first one left in the workspace.
        while let narrowed = narrowed(step, after: attempt, knowing: known, since: first, stop) {
            await add(attempt, to: &outcome)
            let failed = TestResults.lastFailures(among: known)
            attempt = await runAttempt(attempt.record.number + 1, of: narrowed, at: index, stop: stop)
            attempt.record.retriedTests = failed.count
            await setting.journal?.end(step.name, attempt.record)
            judge(&attempt, triedAgain: failed)
            known += attempt.tests
        }
        excuse(&attempt, of: step, knowing: known)
        outcome.record.testCounts = known.isEmpty ? nil : TestCounts(lastTriesOf: known)
        return attempt
    }

    /// Says what all attempts of a step together mean.
    private func conclude(_ outcome: inout StepOutcome) {
        let record = outcome.record
        if record.status == .passed, record.attempts.count > 1 {
            outcome.diagnostics = outcome.diagnostics.map { $0.severity == .error ? $0.asWarning : $0 }
        }
        outcome.findings += outcome.diagnostics
        outcome.isFlaky =
            record.status == .passed
            && record.attempts.contains { $0.status == .failed || $0.status == .timedOut }
            && (record.attempts.last?.quarantinedTests == nil || TestResults(tests: outcome.tests).counts.flaky > 0)
    }

    /// Takes the artifacts and outputs of a step, and makes a proof of it.
    private func collect(of step: PlannedStep, in plan: Plan, into outcome: inout StepOutcome) async {
        guard !step.artifacts.isEmpty || !step.outputs.isEmpty, outcome.record.status != .cancelled else {
            return addKey(of: step, to: &outcome)
        }
        let before = outcome
        do {
            outcome = try await onOwnThread {
                var outcome = before
                collectArtifacts(of: step, into: &outcome)
                addKey(of: step, to: &outcome)
                collectOutputs(of: step, in: plan, into: &outcome)
                return outcome
            }
        } catch {
            outcome = finished(
                outcome, .infrastructure, "its artifacts could not be collected: \(error)" + byHand(step))
        }
    }

    private func add(_ attempt: Attempt, to outcome: inout StepOutcome) async {
        outcome.record.attempts.append(attempt.record)
        outcome.findings += attempt.findings
        // If a step failed and then passed, the findings of the failed attempt show what is flaky.
        if attempt.record.status != .passed || !attempt.diagnostics.isEmpty {
            outcome.diagnostics = attempt.diagnostics
        }
        outcome.tests += attempt.tests
        outcome.resultFiles += attempt.resultFiles
        outcome.artifacts += attempt.artifacts
        outcome.record.review = attempt.review ?? outcome.record.review
        outcome.record.status = attempt.record.status
        outcome.record.reason = attempt.record.reason
        let record = setting.secrets.masker.map { attempt.record.masked(by: $0) } ?? attempt.record
        await emit(.attemptEnded(step: outcome.record.name, attempt: record))
    }

    func finished(_ outcome: StepOutcome, _ status: StepStatus, _ reason: String) -> StepOutcome {
        var outcome = outcome
        outcome.record.status = status
        outcome.record.reason = reason
        return outcome
    }

    private func firstStop(_ stop: StopSignal, within pause: Duration) async -> StopRequest? {
        await withTaskGroup(of: StopRequest?.self) { group in
            group.addTask { await stop.wait() }
            group.addTask {
                try? await Task.sleep(for: pause)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}

extension AttemptRecord {
    /// Whether a failure of this kind deserves another attempt under this condition.
    fileprivate func deserves(_ condition: RetryCondition) -> Bool {
        switch condition {
        case .anyFailure: status.isFailure
        case .exitCodes(let codes): exitCode.map(codes.contains) ?? false
        case .infrastructure: status == .infrastructure
        }
    }
}

extension TestCounts {
    /// Counts each test of an attempt once, by its last result.
    init(lastTriesOf tests: [TestResult]) {
        let counts = TestResults(tests: tests).counts
        self.init(
            passed: counts.passed, failed: counts.failed + counts.errored, skipped: counts.skipped,
            expectedFailures: counts.expectedFailure)
    }
}

extension Finding {
    /// The finding as a warning, for a step that passed in the end.
    fileprivate var asWarning: Finding {
        var copy = self
        copy.severity = .warning
        return copy
    }
}
