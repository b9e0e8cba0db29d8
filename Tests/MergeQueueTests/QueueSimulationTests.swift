import Foundation
import Testing

/// How much batches and depth save.
@Suite struct QueueSimulationTests {
    @Test func `all that are good land, whatever the batches are`() {
        for batchSize in [1, 3, 8] {
            for depth in [1, 2, 4] {
                let outcome = QueueSimulation(batchSize: batchSize, depth: depth).run(seed: 7)
                #expect(outcome.landed == 45)
            }
        }
    }

    @Test func `batches and depth land more than testing one by one`() {
        let single = QueueSimulation(batchSize: 1, depth: 1).run(seed: 1)
        #expect(single.rounds == 50 && single.runs == 50)
        let batched = QueueSimulation(batchSize: 4, depth: 2).run(seed: 1)
        #expect(batched.rounds < single.rounds / 2)
    }

    /// `PIPECTL_QUEUE_TABLE=1 script/test merge-queue` prints the table of docs/guide/landing.md.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["PIPECTL_QUEUE_TABLE"] != nil))
    func table() {
        print("| batch | " + [1, 2, 4, 8].map { "depth \($0)" }.joined(separator: " | ") + " |")
        for batchSize in [1, 2, 4, 8, 16] {
            let cells = [1, 2, 4, 8].map { depth -> String in
                let mean = QueueSimulation(batchSize: batchSize, depth: depth).mean(of: 1...50, minutes: 10)
                func rounded(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
                return "\(rounded(mean.landingsPerHour)) (\(rounded(mean.runsPerLanding)))"
            }
            print("| \(batchSize) | \(cells.joined(separator: " | ")) |")
        }
    }
}
