import Client
import Foundation
import Pipeline
import Reports
import Results
import Testing

@testable import Client

/// The list that `pipectl runs` prints.
@Suite struct RunTableTests {
    private func row(_ state: RunState, _ verdict: Verdict?, heldFor: String? = nil, colour: Bool = false) -> String {
        var run = RunSummary(
            id: 7, repository: "r", workflow: "test", event: .push, ref: "refs/heads/main", branch: "main",
            head: String(repeating: "a", count: 40), state: state, createdAt: Date())
        (run.verdict, run.heldFor) = (verdict, heldFor)
        return RunTable.text([run], colour: colour).split(separator: "\n").last.map(String.init) ?? ""
    }

    @Test func `a run that waits for a person has the symbol and the words of that verdict`() {
        for state in [RunState.queued, .running] {
            let row = row(state, nil, heldFor: "the workflow requires approval")
            #expect(row.contains("? needs approval"), "\(row)")
        }
    }

    @Test(arguments: [Verdict.passed, .failed, .flaky, .infrastructure, .needsApproval, .cancelled])
    func `symbols and colours are those of reports`(verdict: Verdict) {
        #expect(row(.ended, verdict).contains("\(Wording.symbol(verdict)) \(verdict.title)"))
        #expect(row(.ended, verdict, colour: true).contains("\u{1b}[\(Wording.colour(verdict))m"))
    }
}
