import Results
import Foundation
import Testing
@testable import Preparing

/// What follows from what was tried, without a box.
struct FixSequenceTests {
    private let first = FixRole(of: 1, attempt: 1, last: 2, mayPush: false)

    private func maker(_ run: RunID, _ attempt: Int, _ verdict: Verdict?, _ outcome: FixOutcome? = nil)
        -> FixSequence.Part
    {
        let role = FixRole(of: 1, attempt: attempt, last: 2, mayPush: false)
        var record = FixRecord(role: role)
        record.outcome = outcome
        record.commit = outcome == .made ? "c\(run)" : nil
        return FixSequence.Part(run: run, role: role, verdict: verdict, reason: "r\(run)", record: record)
    }

    private func check(_ run: RunID, _ attempt: Int, of maker: RunID, _ verdict: Verdict?) -> FixSequence.Part {
        let role = FixRole(of: 1, attempt: attempt, last: 2, mayPush: false, maker: maker)
        return FixSequence.Part(run: run, role: role, verdict: verdict, reason: "r\(run)", record: nil)
    }

    @Test func `a series goes from the fixer to the check to the next attempt and ends`() {
        func next(_ parts: FixSequence.Part...) -> FixSequence.Next {
            FixSequence(run: 1, parts: parts).next(first: first)
        }
        let second = FixRole(of: 1, attempt: 2, last: 2, mayPush: false)
        #expect(next() == .make(first))
        #expect(next(maker(2, 1, nil)) == .wait)
        let checking = FixRole(of: 1, attempt: 1, last: 2, mayPush: false, maker: 2)
        #expect(next(maker(2, 1, .passed, .made)) == .check(checking, commit: "c2"))
        #expect(next(maker(2, 1, .failed, .noChange)) == .make(second))
        #expect(next(maker(2, 1, .infrastructure)) == .make(second))
        let made = maker(2, 1, .passed, .made)
        #expect(next(made, check(3, 1, of: 2, nil)) == .wait)
        #expect(next(made, check(3, 1, of: 2, .failed)) == .make(second))
        let tried = [made, check(3, 1, of: 2, .failed), maker(4, 2, .failed, .failed)]
        guard case .end(.givenUp, let why) = FixSequence(run: 1, parts: tried).next(first: first) else {
            Issue.record("it must end after the last attempt")
            return
        }
        #expect(why.contains("none of 2") && why.contains("r4"))
    }

    @Test(arguments: [
        (Verdict.passed, FixSeries.State.offered), (.flaky, .offered), (.needsApproval, .needsApproval),
        (.cancelled, .stopped), (.superseded, .stopped),
    ])
    func theVerdictOfTheCheckDecides(_ verdict: Verdict, _ state: FixSeries.State) {
        let parts = [maker(2, 1, .passed, .made), check(3, 1, of: 2, verdict)]
        guard case .end(let ended, _) = FixSequence(run: 1, parts: parts).next(first: nil) else {
            Issue.record("\(verdict) is an end")
            return
        }
        #expect(ended == state)
    }

    @Test func `attempts have the results of both runs`() {
        let parts = [maker(2, 1, .passed, .made), check(3, 1, of: 2, .failed), maker(4, 2, nil)]
        let attempts = FixSequence(run: 1, parts: parts).attempts
        #expect(attempts.map(\.number) == [1, 2] && attempts.map(\.check) == [3, nil])
        #expect(attempts[0].verdict == .failed && attempts[0].commit == "c2" && attempts[0].reason == "failed: r3")
        #expect(attempts[1].verdict == nil)
    }

    @Test func `reports have states as words`() throws {
        let series = FixSeries(state: .needsApproval, reason: "why", wanted: 2, mayPush: false)
        let data = try JSONEncoder().encode(series)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(object["state"] as? String == "needsApproval")
        #expect(try JSONDecoder().decode(FixSeries.self, from: data) == series)
        let later = String(decoding: data, as: UTF8.self).replacing("needsApproval", with: "ofALaterVersion")
        #expect(try JSONDecoder().decode(FixSeries.self, from: Data(later.utf8)).state.rawValue == "ofALaterVersion")
    }
}
