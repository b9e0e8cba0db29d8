import Foundation
import Forges
import Landing
import Testing

@testable import Daemon

/// What the merge queue makes of a forge's answer.
@Suite struct ForgeAnswerTests {
    private static let date = Date(timeIntervalSince1970: 1_000)

    @Test(
        arguments: [
            (.headMoved, .headMoved), (.notMergeable, .notMergeable("why")), (.notAllowed, .notAllowed("why")),
            (.notConnected, .notAllowed("why")), (.notNow, .later("why", until: date)),
            (.unknownEnd, .later("why", until: date)),
            // What a later version may say is tried again, since it may have taken effect.
            (ForgeMergeError.Code(rawValue: "new"), .later("why", until: date)),
        ] as [(ForgeMergeError.Code, MergeAnswer)])
    func `each failure has its consequence`(code: ForgeMergeError.Code, answer: MergeAnswer) {
        #expect(DaemonMergingForge.answer(to: ForgeMergeError(code, "why", retryAt: Self.date)) == answer)
    }
}
