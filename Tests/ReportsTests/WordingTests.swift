import Results
import Testing

@testable import Reports

/// The symbols and colours of states, which every list and report takes from one table.
@Suite struct WordingTests {
    @Test func `verdicts that ask for different things have different symbols`() {
        let verdicts: [Verdict] = [
            .passed, .failed, .conflict, .flaky, .infrastructure, .superseded, .cancelled, .needsApproval,
            .notApplicable,
        ]
        #expect(Set(verdicts.map { Wording.symbol($0) }).count == verdicts.count)
    }

    @Test func `a step has the symbol and the colour of the verdict that it leads to`() {
        for (status, verdict) in [
            (StepStatus.passed, Verdict.passed), (.failed, .failed), (.timedOut, .failed),
            (.infrastructure, .infrastructure), (.cancelled, .cancelled),
        ] {
            #expect(Wording.symbol(status) == Wording.symbol(verdict))
        }
        #expect(Wording.colour(StepStatus.infrastructure) == Wording.colour(Verdict.infrastructure))
        #expect(Wording.colour(StepStatus.timedOut) == Wording.colour(Verdict.failed))
    }
}
