package import Pipeline
import PlanOrder
package import Results

extension Runner {
    /// The outcome of a plan whose steps are all proved and have nothing to restore; nil if something must run.
    ///
    /// No process is started, and no folder of the run is read.
    package static func settled(_ plan: Plan, by proved: [String: ProvedStep]) -> RunOutcome? {
        var graph = RunGraph(plan)
        var records = plan.steps.map { StepRecord($0) }
        var outcome = RunOutcome(verdict: .passed, reason: "")
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
