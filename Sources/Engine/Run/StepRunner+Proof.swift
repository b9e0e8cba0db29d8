import Concurrency
import Results
import Pipeline

import Foundation
import Sandbox
import SystemPackage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// Uses the proofs of earlier runs, and stores what a proof of a passed step needs.
extension StepRunner {
    /// The outcome of a proved step. Nil if it has to run; then with the reason, if there should have been a proof.
    ///
    /// Everything that it needs is in place: a step whose outputs are restored is needed by one that runs, and the
    /// outputs of the steps it needs are restored, too.
    func cite(_ step: PlannedStep, of plan: Plan) async -> (outcome: StepOutcome?, surprise: Finding?) {
        if let carried = setting.carried[step.name] { return (StepOutcome(carried, of: step), nil) }
        guard let proved = setting.proved[step.name] else { return (nil, nil) }
        guard let kept = proved.restores else { return (StepOutcome(proved, of: step), nil) }
        do {
            let stale = StaleOutputs(
                before: step, in: plan, tracked: setting.tracked[step.name] ?? [], begunAt: place.begunAt)
            try await onOwnThread { try place.restore(kept, inPlaceOf: stale) }
            place.sites?.note(kept, of: step)
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
    ///
    /// The key is that of the run's machine, so what ran on another one is none.
    func addKey(of step: PlannedStep, to outcome: inout StepOutcome) {
        guard let key = setting.keys[step.name], outcome.record.status == .passed, outcome.record.attempts.count == 1,
            outcome.record.attempts.first?.machine == nil,
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
            if !plan.steps[place].action.startsProcess {
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
        let files = WorkspaceFiles(source: place.files(.workspace, of: step), limits: limits, findsLinks: true)
        let search = files.matching(step.outputs.compactMap { try? Glob($0) })
        let temporary = setting.temporaryFile(in: setting.artifacts)
        let problem: String
        if let obstacle = obstacle(to: search, of: step, in: plan) {
            problem = obstacle
        } else {
            do {
                let made = try OutputPack.write(search, of: files, to: temporary, masker: setting.secrets.masker)
                try FileManager.default.moveReplacing(
                    temporary.string, to: setting.artifacts.appending(made.sha256).string)
                outcome.record.outputs = made
                return
            } catch {
                _ = temporary.withPlatformString { unlink($0) }
                problem = "\(error)"
            }
        }
        outcome.findings.append(
            Finding(
                rule: "outputs", severity: .note,
                message:
                    "step \"\(step.name)\" can't be proved for later runs: its outputs were not stored: \(problem)"))
    }

    /// Why the outputs that were found can't be stored; nil if they can.
    private func obstacle(to search: FileSearch, of step: PlannedStep, in plan: Plan) -> String? {
        if let problem = search.problems.first { return problem }
        if search.matches.isEmpty, search.emptyFolders.isEmpty {
            return "no file matches \(step.outputs.joined(separator: ", "))"
        }
        if let gap = search.gap { return "\(gap)" }
        let found = Set(search.matches.map(\.path))
        if let removed = setting.tracked[step.name]?.first(where: { !found.contains($0) }) {
            return "it removed \(removed), which is in the repository"
        }
        if let overlap = overlap(of: step, in: plan, search.matches) { return overlap }
        var left = setting.outputLimit
        for match in search.matches {
            // A sparse file can have any size: the sum must not overflow.
            guard match.bytes <= left else {
                return "they are larger than \(Figures.grouped(setting.outputLimit)) bytes"
            }
            left -= match.bytes
        }
        return nil
    }

    /// Why files at the output paths of a step may not all be its own; nil if they are.
    ///
    /// The outputs of a step that this one needs are covered by this one's key. Those of any other step are not: if
    /// they were restored with this step's outputs, they would stand for files that have changed. A step that needs
    /// this one has not started yet, but may have left files in the snapshot that the run started from.
    private func overlap(of step: PlannedStep, in plan: Plan, _ files: [FileMatch]) -> String? {
        let (own, later) = (plan.needs(of: step.name), plan.dependants(of: step.name))
        for other in plan.steps where !other.outputs.isEmpty && !own.contains(other.name) {
            let globs = other.outputs.compactMap { try? Glob($0) }
            let isLater = later.contains(other.name)
            let shared = files.first { file in
                !(isLater && file.stamp.date >= place.begunAt) && globs.contains { $0.matches(file.path) }
            }
            guard let path = shared?.path else { continue }
            return
                "\(path) may be an output of step \"\(other.name)\", whose .outputs(…) match it, too; make them disjoint"
                + (isLater ? "" : ", or let \"\(step.name)\" need \"\(other.name)\"")
        }
        return nil
    }
}
