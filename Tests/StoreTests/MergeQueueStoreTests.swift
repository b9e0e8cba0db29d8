import Foundation
import Results
import Store
import Testing

/// The merge queues in the index.
@Suite struct MergeQueueStoreTests {
    private static let time = Date(timeIntervalSince1970: 1_000)

    private static func record(_ change: String, _ outcome: LandingRecord.Outcome = .landed) -> LandingRecord {
        LandingRecord(
            change: change, head: "h\(change)", outcome: outcome, reason: "r", commit: "c",
            tip: outcome == .landed ? "t" : nil, method: "squash", runs: ["test": 3], askedBy: "ada", askedAt: time,
            endedAt: time)
    }

    private struct Stop: Error {}

    @Test func `a state and those who left are stored together, or not at all`() async throws {
        let index = try Store.Index.inMemory()
        try await index.changeMergeQueue(of: "app", branch: "main") { old in
            #expect(old == nil)
            return MergeQueueUpdate(state: "one", ended: [], result: ())
        }
        await #expect(throws: Stop.self) {
            try await index.changeMergeQueue(of: "app", branch: "main") { _ -> MergeQueueUpdate<Void> in throw Stop() }
        }
        try await index.changeMergeQueue(of: "app", branch: "main") { old in
            #expect(old == "one")
            return MergeQueueUpdate(state: "two", ended: [Self.record("7"), Self.record("9", .failed)], result: ())
        }
        // A change does not land twice at the same head, whoever says so: neither is the state stored.
        await #expect(throws: (any Error).self) {
            try await index.changeMergeQueue(of: "app", branch: "main") { _ in
                MergeQueueUpdate(state: "three", ended: [Self.record("7")], result: ())
            }
        }
        #expect(
            try await index.mergeQueues() == [MergeQueueRecord(repository: "app", branch: "main", state: "two")])
        #expect(try await index.mergeQueues(of: "other").isEmpty)
        #expect(try await index.landings(of: "app", branch: "main") == [Self.record("9", .failed), Self.record("7")])
        #expect(try await index.landings(of: "app", branch: "release").isEmpty)
        var untested = Self.record("11")
        untested.isUntested = true
        try await index.changeMergeQueue(of: "app", branch: "release") { [untested] _ in
            MergeQueueUpdate(state: "four", ended: [untested], result: ())
        }
        #expect(try await index.landings(of: "app", branch: "release") == [untested])
    }
}
