import Foundation
import Pipeline
import Results
import Testing

@testable import Landing

/// When a label is good for the head of somebody who may not push.
@Suite struct LabelLandingsTests {
    private static func run(
        _ id: RunID, _ verdict: Verdict?, _ workflow: String = "test", heldFor: String? = nil
    ) -> RunSummary {
        var run = RunSummary(
            id: id, repository: "app", workflow: workflow, event: .pullRequest, ref: "refs/pull/7/head", branch: "main",
            head: "h", state: verdict == nil ? .queued : .ended, verdict: verdict, createdAt: Date())
        run.heldFor = heldFor
        return run
    }

    @Test(
        arguments: [
            ([], false), ([run(1, .passed)], true), ([run(1, .failed)], true), ([run(1, .needsApproval)], false),
            ([run(1, nil, heldFor: "b")], false),
            // It is not known yet whether it needs approval.
            ([run(1, nil)], false), ([run(1, .passed), run(2, nil, "lint")], false),
            // It never ran.
            ([run(1, .cancelled)], false), ([run(1, .notApplicable)], false),
            // A later run counts, also a repetition that is refused.
            ([run(1, .needsApproval), run(2, .passed)], true), ([run(2, .needsApproval), run(1, .passed)], false),
        ] as [([RunSummary], Bool)])
    func `runs must have been allowed and have ended`(runs: [RunSummary], isGood: Bool) {
        #expect(LabelLandings.haveRun(runs) == isGood)
    }
}
