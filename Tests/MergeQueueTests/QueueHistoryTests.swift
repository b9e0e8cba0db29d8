import Foundation
import MergeQueue
import TestBasics
import Testing

/// Random histories against a model: changes that fail alone or together, flaky ones, targets that move by other hands,
/// and a daemon that is killed between any two actions.
@Suite struct QueueHistoryTests {
    /// `PIPECTL_SEED` repeats one history; `PIPECTL_HISTORIES` asks for another number of them.
    private static func seeds() -> [Int] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["PIPECTL_SEED"].flatMap({ Int($0) }) { return [seed] }
        return Array(1...(environment["PIPECTL_HISTORIES"].flatMap { Int($0) } ?? 3_000))
    }

    @Test(.timeLimit(.minutes(5)), arguments: [QueueMover.push, .forge])
    func `the target is only where it was tested, and no change is lost or lands twice`(mover: QueueMover) {
        var (landed, left, kills, untested) = (0, 0, 0, 0)
        for seed in Self.seeds() {
            var history = QueueHistory(seed: seed, mover: mover)
            do { try history.play() } catch {
                Issue.record("PIPECTL_SEED=\(seed): \(error)")
                return
            }
            landed += history.landed.count
            left += history.left.count
            kills += history.kills
            untested += history.untested
        }
        // The histories are worth something only if all of it happens.
        #expect(landed > 0 && left > 0 && kills > 0)
        #expect((untested > 0) == (mover == .forge))
        #expect(untested < landed / 2)
    }
}
