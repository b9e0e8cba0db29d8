import Concurrency
import Results

extension Runner {
    /// The verdict over steps that have all ended, and its reason.
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
}
