import Foundation
import TestSupport
import Testing

/// `pipectl validate`, which anybody may call beside anything else.
struct ValidateTests {
    @Test(.timeLimit(.minutes(3)), arguments: 1...5)
    func twoAtOnceOnANewStateFolderBothSucceed(round: Int) async throws {
        try await Bench.with { bench in
            async let one = bench.pipectl("validate")
            async let other = bench.pipectl("validate")
            for ended in try await [one, other] {
                #expect(ended.code == 0, "\(ended.errors)")
                #expect(ended.output == "2 workflows are valid: test, release\n")
            }
        }
    }
}
