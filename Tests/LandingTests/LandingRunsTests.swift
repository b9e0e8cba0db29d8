import Foundation
import MergeQueue
import Results
import Testing

@testable import Landing

/// What runs say about a commit of the merge queue.
@Suite struct LandingRunsTests {
    @Test(
        arguments: [
            ([.passed, .passed], .passed), ([.passed, nil], nil), ([nil, .failed], .failed),
            ([.flaky, .passed], .flaky),
            ([.flaky, .failed], .failed), ([.undecided("a"), .flaky], .undecided("a")),
            ([.undecided("a"), .cancelled("b")], .cancelled("b")), ([.undecided("a"), nil], nil), ([], nil),
        ] as [([TestOutcome?], TestOutcome?)])
    func `several runs say one thing`(outcomes: [TestOutcome?], sum: TestOutcome?) {
        #expect(LandingRuns.sum(outcomes) == sum)
    }

    @Test func `git's answer tells a refusal from a push of which nothing is known`() {
        #expect(TargetPush.outcome("To /r\n \tabc:refs/heads/main\ta..b\nDone\n", succeeded: true) == .pushed)
        let refused = """
            remote: not today
            To /r
            !\tabc:refs/heads/main\t[remote rejected] (pre-receive hook declined)
            error: failed to push some refs to '/r'
            """
        guard case .rejected(let why) = TargetPush.outcome(refused, succeeded: false) else {
            Issue.record("it is a refusal")
            return
        }
        #expect(why.contains("not today"))
        guard case .unknown = TargetPush.outcome("fatal: unable to access\n", succeeded: false) else {
            Issue.record("nothing is known")
            return
        }
        #expect(TargetPush.outcome("", succeeded: false) == .unknown("git push failed"))
    }

    @Test func `an estimate counts rounds and what has passed of the first`() {
        let now = Date(timeIntervalSince1970: 10_000)
        var state = QueueState(target: "t", rules: nil)
        _ = state.apply(.enqueue(QueueWish(change: "1", head: "h")))
        var position = state.positions[0]
        (position.rounds, position.runs) = (2, [5])
        let estimate = LandingEstimate(round: .seconds(60), started: [5: now - 20])
        #expect(estimate.landing(of: position, at: now) == now + 100)
        position.rounds = 0
        #expect(estimate.landing(of: position, at: now) == now)
        #expect(LandingEstimate(round: nil).landing(of: position, at: now) == nil)
    }
}
