public import Concurrency
import Results
public import Pipeline

import Foundation
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Runs a plan: one task for each step, at most as many at a time as there are slots.
public struct Runner: Sendable {
    let setting: RunSetting
    let pool: SlotPool
    let emit: @Sendable (RunEvent) async -> Void
    /// The start of the run by the file system's clock, to be compared with the change times of files.
    let begunAt = WorkspaceFiles.Stamp.now

    /// - Parameters:
    ///   - pool: The slots, shared by all runs of the daemon.
    ///   - emit: Receives each event. It is awaited, so a full listener slows the run instead of losing events.
    public init(setting: RunSetting, pool: SlotPool, emit: @escaping @Sendable (RunEvent) async -> Void) {
        self.setting = setting
        self.pool = pool
        self.emit = emit
    }

    private enum Message: Sendable {
        case stepEnded(Int, StepOutcome)
        case stop(StopRequest)
        case nothing
    }

    /// Runs a valid plan to its end. It never throws: every failure is part of the outcome.
    ///
    /// - Parameter stop: Ends running steps and keeps others from starting; `always` steps still run. Cancelling the
    ///   task ends those too.
    public func run(_ plan: Plan, stop: StopSignal) async -> RunOutcome {
        await StepLoop.run { loop in await run(plan, stop: stop, on: loop) }
    }

    private func run(_ plan: Plan, stop: StopSignal, on loop: StepLoop?) async -> RunOutcome {
        var graph = RunGraph(plan)
        let places = Dictionary(
            plan.steps.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        var records = plan.steps.map {
            StepRecord(name: $0.name, command: $0.commandLine, needs: $0.needs, allowsFailure: $0.allowsFailure)
        }
        var collected = RunOutcome(
            verdict: .passed, reason: "", steps: [], tests: [], findings: [], artifacts: [], resultFiles: [])
        var flaky: [String] = []
        let quota: RunQuota
        do {
            quota = try await StepLoop.block(loop) {
                try setting.makeFolders(for: plan)
                try setting.prepareSandbox(for: plan)
                try setting.prepareRooms(for: plan)
                return try setting.makeQuota(for: plan)
            }
        } catch {
            return unstartable(records, "the run's folder can't be made: \(error)")
        }
        let hosts = StepHosts(setting: setting, group: quota.group, loop: loop)
        quota.watch { [weak hosts] in hosts?.processes ?? [] }
        await withTaskGroup(of: Message.self) { group in
            group.addTask { await stop.wait().map { Message.stop($0) } ?? .nothing }
            if let limit = quota.limits.wallTime {
                group.addTask {
                    do { try await Task.sleep(for: .seconds(limit)) } catch { return .nothing }
                    return .stop(
                        StopRequest(
                            .limitReached,
                            reason: "wall time: \(Duration.seconds(limit).inWords) limit reached by the run")
                    )
                }
            }
            var signals: [Int: StopSignal] = [:]
            func stopAll(_ request: StopRequest) {
                let isFailure = request.kind == .failFast || request.kind == .limitReached
                graph.stop(because: request.reason, isFailure: isFailure)
                for (step, signal) in signals where graph.states[step] == .running {
                    let condition = plan.steps[step].condition
                    if condition == .onSuccess || condition == .onFailure && !isFailure { signal.stop(request) }
                }
            }
            let queue = StepQueue(runner: self, plan: plan)
            var handedOver: [[ResourceUse]] = []
            while true {
                for (step, place) in queue.enqueue(graph.takeReady()) {
                    let signal = StopSignal()
                    signals[step] = signal
                    group.addTask {
                        .stepEnded(
                            step, await runStep(step, of: plan, on: hosts, within: quota, place: place, stop: signal))
                    }
                }
                // The slots are released only now, because a step that becomes ready by this one's end must be in the
                // queue first.
                for uses in handedOver { pool.release(uses) }
                handedOver = []
                for skip in graph.takeSkips() {
                    records[skip.step].status = skip.status
                    records[skip.step].reason = skip.reason
                    await emit(.stepEnded(records[skip.step]))
                }
                if graph.isFinished || graph.isStuck { break }
                guard let message = await group.next() else { break }
                switch message {
                case .nothing: continue
                case .stop(let request):
                    stopAll(request)
                case .stepEnded(let step, var outcome):
                    signals[step] = nil
                    Runner.withdrawKey(from: plan.steps[step], of: plan, places, records, &outcome.record)
                    records[step] = outcome.record
                    collected.add(outcome, to: &records[step])
                    if outcome.isFlaky { flaky.append(outcome.record.name) }
                    if outcome.holdsSlot { handedOver.append(plan.steps[step].resources) }
                    graph.end(step, as: outcome.record.status)
                    if !outcome.tests.isEmpty || !outcome.findings.isEmpty {
                        await emit(
                            .stepLeft(
                                step: outcome.record.name, tests: outcome.tests, findings: outcome.findings))
                    }
                    await emit(.stepEnded(outcome.record))
                    if plan.failFast, outcome.record.status.isFailure, !plan.steps[step].allowsFailure {
                        stopAll(
                            StopRequest(
                                .failFast, reason: "\"\(outcome.record.name)\" failed and the workflow fails fast"))
                    }
                }
            }
            group.cancelAll()
        }
        // Only a plan that is not valid leaves such steps. They must not look as if they could still run.
        for index in records.indices where !records[index].status.isFinal {
            records[index].status = .infrastructure
            records[index].reason = "the steps it needs can never end; `pipectl validate` shows why"
            await emit(.stepEnded(records[index]))
        }
        setting.finished?()
        @Sendable func close() -> Bool {
            defer { quota.close() }
            return hosts.close()
        }
        do {
            collected.isAllEnded = try await StepLoop.block(loop) { close() }
        } catch {
            collected.isAllEnded = close()
        }
        collected.steps = records
        (collected.verdict, collected.reason) = Runner.verdict(of: records, stopped: stop.request, flaky: flaky)
        return collected
    }

    /// The verdict over steps that have all ended.
    static func verdict(
        of records: [StepRecord], stopped: StopRequest?, flaky: [String]
    ) -> (Verdict, String) {
        func names(_ records: [StepRecord]) -> String {
            let shown = records.prefix(3).map { "\"\($0.name)\"" }.joined(separator: ", ")
            return records.count > 3 ? "\(shown) and \(records.count - 3) more" : shown
        }
        let failed = records.filter { $0.status.isFailure && !$0.allowsFailure }
        let broken = failed.filter { $0.status == .infrastructure }
        // A stop that came too late to change anything does not decide the verdict.
        if let stopped, stopped.kind != .failFast, stopped.kind != .limitReached,
            records.contains(where: { $0.status == .cancelled })
        {
            return (stopped.kind == .superseded ? .superseded : .cancelled, stopped.reason)
        }
        if let first = failed.first(where: { $0.status != .infrastructure }) {
            let why = first.reason.map { ": \($0)" } ?? ""
            return (
                .failed,
                failed.count == 1
                    ? "step \"\(first.name)\" failed\(why)" : "\(failed.count) steps failed: \(names(failed))"
            )
        }
        if let first = broken.first {
            return (.infrastructure, "step \"\(first.name)\" could not be run: \(first.reason ?? "unknown reason")")
        }
        if !flaky.isEmpty {
            return (
                .flaky, "passed, but only on a later attempt: \(flaky.map { "\"\($0)\"" }.joined(separator: ", "))"
            )
        }
        if records.contains(where: { $0.status == .cancelled }) {
            return (.cancelled, "steps were cancelled")
        }
        let passed = records.count { $0.status == .passed }
        let proofs = records.compactMap(\.provedBy)
        let carried = records.compactMap(\.carriedFrom)
        let excused = records.reduce(0) { $0 + ($1.attempts.last?.quarantinedTests ?? 0) }
        return (
            .passed,
            "\(passed) of \(records.count) steps passed"
                + (proofs.isEmpty
                    ? "" : ", \(proofs.count == passed ? "all" : "\(proofs.count)") proved by \(Self.runs(of: proofs))")
                + (carried.first.map { ", \(carried.count) of them in run \($0.run)" } ?? "")
                + (excused > 0 ? "; \(excused) failure\(excused == 1 ? "" : "s") in quarantine" : "")
                + (records.contains { $0.status.isFailure } ? "; a failure was allowed" : "")
        )
    }

    /// Text such as `run 12`, `runs 12 and 14`, or `run 12 and 3 other runs`.
    private static func runs(of proofs: [ProofCitation]) -> String {
        let runs = Set(proofs.map(\.run)).sorted()
        return switch runs.count {
        case 1: "run \(runs[0])"
        case 2: "runs \(runs[0]) and \(runs[1])"
        default: "run \(runs[0]) and \(runs.count - 1) other runs"
        }
    }

    private func unstartable(_ records: [StepRecord], _ reason: String) -> RunOutcome {
        var records = records
        for index in records.indices {
            records[index].status = .infrastructure
            records[index].reason = reason
        }
        return RunOutcome(
            verdict: .infrastructure, reason: reason, steps: records, tests: [], findings: [], artifacts: [],
            resultFiles: [])
    }
}
