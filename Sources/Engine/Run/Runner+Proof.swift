import Concurrency
public import Results
public import Pipeline

import Foundation
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Uses the proofs of earlier runs, and stores what a proof of a passed step needs.
extension Runner {
    /// The outcome of a proved step. Nil if it has to run; then with the reason, if there should have been a proof.
    ///
    /// Everything that it needs is in place: a step whose outputs are restored is needed by one that runs, and the
    /// outputs of the steps it needs are restored, too.
    func cite(_ step: PlannedStep, of plan: Plan) async -> (outcome: StepOutcome?, surprise: Finding?) {
        if let carried = setting.carried[step.name] { return (StepOutcome(carried, of: step), nil) }
        guard let proved = setting.proved[step.name] else { return (nil, nil) }
        guard let kept = proved.restores else { return (StepOutcome(proved, of: step), nil) }
        let writer = WorkspaceWriter(root: setting.workspaceView, owner: setting.runSandbox?.user, links: keptLinks)
        do {
            let stale = StaleOutputs(
                before: step, in: plan, tracked: setting.tracked[step.name] ?? [], begunAt: begunAt)
            try await onOwnThread {
                try OutputPack.unpack(kept.path, sha256: kept.sha256, inPlaceOf: stale, with: writer)
            }
            return (StepOutcome(proved, of: step), nil)
        } catch {
            let message =
                "step \"\(step.name)\" ran although run \(proved.citation.run) proves it: its stored outputs can't "
                + "be restored: \(error)"
            return (
                nil,
                Finding(
                    rule: "outputs", severity: .warning, message: message, file: nil, line: nil, column: nil,
                    suggestion:
                        "`pipectl archive verify` tells whether what was kept is whole; a link or file in the way is the "
                        + "workspace's own")
            )
        }
    }

    /// Stores the key of a step that passed at its first attempt, with no test that failed first: the step is a proof.
    func addKey(of step: PlannedStep, to outcome: inout StepOutcome) {
        guard let key = setting.keys[step.name], outcome.record.status == .passed, outcome.record.attempts.count == 1,
            !outcome.tests.contains(where: { $0.status.isFailure })
        else { return }
        outcome.record.key = key
    }

    /// Removes the key of a step that needs a step without a key, because no key covers what is in its workspace.
    ///
    /// This happens after a failure that was allowed, and after a step that passed only at a later attempt.
    ///
    /// - Parameter places: The index of each step in the plan, by name.
    static func withdrawKey(
        from step: PlannedStep, of plan: Plan, _ places: [String: Int], _ records: [StepRecord],
        _ record: inout StepRecord
    ) {
        guard record.key != nil else { return }
        var waiting = step.needs
        var seen: Set<String> = []
        while let name = waiting.popLast() {
            guard seen.insert(name).inserted, let place = places[name] else { continue }
            if plan.steps[place].action == .approval {
                waiting += plan.steps[place].needs
            } else if records[place].status != .passed || records[place].key == nil {
                (record.key, record.outputs) = (nil, nil)
                return
            }
        }
    }

    /// Packs the declared outputs of a step. If they can't be stored, nothing fails: the step runs again where it is
    /// needed.
    func collectOutputs(of step: PlannedStep, in plan: Plan, into outcome: inout StepOutcome) {
        guard outcome.record.key != nil, !step.outputs.isEmpty else { return }
        var limits = setting.fileLimits
        limits.count = max(limits.count, 20_000)
        let files = WorkspaceFiles(root: setting.workspaceView, limits: limits, links: keptLinks)
        let search = files.matching(step.outputs.compactMap { try? Glob($0) })
        var problem = search.problems.first
        if search.matches.isEmpty, search.emptyFolders.isEmpty, problem == nil {
            problem = "no file matches \(step.outputs.joined(separator: ", "))"
        }
        if let gap = search.gap, problem == nil { problem = "\(gap)" }
        if problem == nil {
            let found = Set(search.matches.map(\.path))
            problem = setting.tracked[step.name]?.first { !found.contains($0) }.map {
                "it removed \($0), which is in the repository"
            }
        }
        if problem == nil { problem = overlap(of: step, in: plan, search.matches) }
        var total = 0
        for match in search.matches where problem == nil {
            let (sum, isTooLarge) = total.addingReportingOverflow(match.bytes)
            total = sum
            if isTooLarge || total > setting.outputLimit {
                problem = "they are larger than \(Figures.grouped(setting.outputLimit)) bytes"
            }
        }
        let temporary = setting.artifacts.appending(".\(UInt64.random(in: .min ... .max))")
        if problem == nil {
            do {
                let made = try OutputPack.write(
                    search, of: files, to: temporary, masker: setting.secrets.masker)
                try FileManager.default.moveReplacing(
                    temporary.string, to: setting.artifacts.appending(made.sha256).string)
                outcome.record.outputs = made
            } catch {
                _ = temporary.withPlatformString { unlink($0) }
                problem = "\(error)"
            }
        }
        guard let problem else { return }
        outcome.findings.append(
            Finding(
                rule: "outputs", severity: .note,
                message:
                    "step \"\(step.name)\" can't be proved for later runs: its outputs were not stored: \(problem)",
                file: nil, line: nil, column: nil, suggestion: nil))
    }

    private var keptLinks: OutputLink { OutputLink(readable: setting.runSandbox?.sandbox.readable ?? []) }

    /// Why files at the output paths of a step may not all be its own; nil if they are.
    ///
    /// The outputs of a step that this one needs are covered by this one's key. Those of any other step are not: if
    /// they were restored with this step's outputs, they would stand for files that have changed. A step that needs
    /// this one has not started yet, but may have left files in the snapshot that the run started from.
    private func overlap(of step: PlannedStep, in plan: Plan, _ files: [WorkspaceFiles.Match]) -> String? {
        let (own, later) = (plan.needs(of: step.name), plan.dependants(of: step.name))
        for other in plan.steps where !other.outputs.isEmpty && !own.contains(other.name) {
            let globs = other.outputs.compactMap { try? Glob($0) }
            let isLater = later.contains(other.name)
            let shared = files.first { file in
                !(isLater && file.stamp.date >= begunAt) && globs.contains { $0.matches(file.path) }
            }
            guard let path = shared?.path else { continue }
            return
                "\(path) may be an output of step \"\(other.name)\", whose .outputs(…) match it, too; make them disjoint"
                + (isLater ? "" : ", or let \"\(step.name)\" need \"\(other.name)\"")
        }
        return nil
    }

    /// The outcome of a plan whose steps are all proved and have nothing to restore; nil if something must run.
    ///
    /// No process is started, and no folder of the run is read.
    public static func settled(_ plan: Plan, by proved: [String: ProvedStep]) -> RunOutcome? {
        var graph = RunGraph(plan)
        var records = plan.steps.map {
            StepRecord(name: $0.name, command: $0.commandLine, needs: $0.needs, allowsFailure: $0.allowsFailure)
        }
        var outcome = RunOutcome(
            verdict: .passed, reason: "", steps: [], tests: [], findings: [], artifacts: [], resultFiles: [])
        while !graph.isFinished, !graph.isStuck {
            for step in graph.takeReady() {
                guard let proof = proved[plan.steps[step].name], proof.restores == nil else { return nil }
                let cited = StepOutcome(proof, of: plan.steps[step])
                records[step] = cited.record
                outcome.add(cited, to: &records[step])
                graph.end(step, as: .passed)
            }
            for skip in graph.takeSkips() {
                records[skip.step].status = skip.status
                records[skip.step].reason = skip.reason
            }
        }
        guard graph.isFinished else { return nil }
        outcome.steps = records
        (outcome.verdict, outcome.reason) = Runner.verdict(of: records, stopped: nil, flaky: [])
        return outcome
    }
}

extension StepOutcome {
    /// Records a step that another run has proved, for this run's report.
    init(_ proved: ProvedStep, of step: PlannedStep) {
        var record = StepRecord(
            name: step.name, command: step.commandLine, needs: step.needs, status: .passed,
            allowsFailure: step.allowsFailure)
        record.key = proved.key
        record.provedBy = proved.citation
        record.testCounts = proved.testCounts
        self.init(record: record)
        tests = proved.tests
        findings = proved.findings.map { finding in
            var finding = finding
            finding.step = step.name
            return finding
        }
        artifacts = proved.artifacts.map { artifact in
            var artifact = artifact
            artifact.step = step.name
            return artifact
        }
    }
}

extension RunOutcome {
    /// Adds the results of a step, and records which of the run's tests are its own.
    mutating func add(_ outcome: StepOutcome, to record: inout StepRecord) {
        if !outcome.tests.isEmpty { record.tests = TestSpan(first: tests.count, count: outcome.tests.count) }
        tests += outcome.tests
        findings += outcome.findings
        artifacts += outcome.artifacts
        resultFiles += outcome.resultFiles
    }
}
