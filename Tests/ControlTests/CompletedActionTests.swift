import Control
import Foundation
import Results
import Testing

@Suite struct CompletedActionTests {
    private static func approval(step: String?, _ decision: Approval.Decision) -> Approval {
        Approval(
            step: step, why: "it changes the workflows", head: "a", definition: "b", binding: "c",
            askedAt: Date(timeIntervalSince1970: 0), decision: decision, by: "ada",
            decidedAt: Date(timeIntervalSince1970: 60))
    }

    @Test(
        arguments: [
            (.looking(repositories: ["a", "b"], all: true), "looking at 2 repositories"),
            (.looking(repositories: ["a", "b"], all: false), "looking at a, b"),
            (.cancelled(3, .beforeStart), "cancelled run 3 before it started"),
            (.cancelled(3, .stopping), "cancelling run 3"), (.cancelled(3, .hadEnded), "run 3 has already ended"),
            (.answered(3, approval(step: nil, .approved), isNew: true), "run 3: approved"),
            (.answered(3, approval(step: "publish", .rejected), isNew: true), "step \"publish\" of run 3: rejected"),
            (.trusted(step: "build"), "results of \"build\" count as proofs again, starting with its next run"),
            (.pushed(refs: 12, remote: "origin"), "pushed 12 refs to origin"),
            (.yanked(version: "1.0", published: []), "release 1.0 is withdrawn"),
            (
                .yanked(version: "1.0", published: ["at the forge"], begun: ["in the folder /x"]),
                "release 1.0 is withdrawn; remove it by hand at the forge; publishing had begun in the folder /x, so look whether it appears there"
            ),
            (.protected(branch: "main", repository: "app"), "app: main is the protected branch now"),
        ] as [(CompletedAction, String)])
    func `an action crosses the socket whole and has its words`(action: CompletedAction, words: String) throws {
        let sent = try JSONEncoder().encode(DaemonReply.completed(action))
        guard case .completed(let received) = try JSONDecoder().decode(DaemonReply.self, from: sent) else {
            Issue.record("another reply was decoded")
            return
        }
        #expect(received == action && received.inWords == words)
    }

    @Test func `an answer that was given before is not given again`() {
        let action = CompletedAction.answered(3, Self.approval(step: nil, .rejected), isNew: false)
        #expect(action.inWords.hasPrefix("run 3 was rejected by ada") && action.inWords.hasSuffix(" already"))
    }
}
