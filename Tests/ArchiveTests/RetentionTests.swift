import Results
import Store
import Archive
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite struct RetentionTests {
    private static let day = 86_400.0
    private static let now = Sample.start.addingTimeInterval(100 * day)

    /// Five runs of changes that ended 90, 70, 50, 30 and 10 days ago.
    private func room() async throws -> ArchiveRoom {
        let room = try ArchiveRoom { Self.now }
        for number in 1...5 {
            try await room.completed(
                Sample.request(change: "\(number)", head: number),
                endedAt: Self.now.addingTimeInterval(-Self.day * Double(110 - number * 20)))
        }
        return room
    }

    @Test func `nothing is removed without a limit`() async throws {
        let room = try await room()
        let plan = try await room.store.plan(RetentionPolicy(), room.index)
        #expect(plan.removals.isEmpty && plan.artifacts.isEmpty)
        #expect(plan.keptRuns == 5)
    }

    @Test func `old runs are removed`() async throws {
        let room = try await room()
        let plan = try await room.store.plan(RetentionPolicy(maximumAgeDays: 60), room.index)
        #expect(plan.removals.map(\.run) == [1, 2])
        #expect(plan.removals.map(\.limit) == [.age, .age])
        #expect(plan.removals.allSatisfy { $0.bytes > 1000 })
        #expect(try await room.store.ids().count == 5, "a plan removes nothing")
        try await room.store.apply(plan, room.index)
        #expect(try await room.store.ids() == [3, 4, 5])
        #expect(try await room.index.runs().map(\.id) == [5, 4, 3])
        #expect(try await room.index.tests(of: 1).isEmpty)
        #expect(try await room.store.verify(room.index).isEmpty)
        try await room.store.apply(plan, room.index)
        #expect(try await room.store.plan(RetentionPolicy(maximumAgeDays: 60), room.index).removals.isEmpty)
    }

    @Test func `of too many runs the oldest are removed`() async throws {
        let room = try await room()
        #expect(try await room.store.plan(RetentionPolicy(maximumRuns: 3), room.index).removals.map(\.run) == [1, 2])
        let none = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(none.removals.map(\.run) == [1, 2, 3, 4], "the newest of all stays")
        #expect(none.kept == [RetentionPlan.Kept(run: 5, reason: .newestOfAll)])
    }

    @Test func `of too many bytes the oldest runs are removed`() async throws {
        let room = try await room()
        let each = try await room.store.plan(RetentionPolicy(maximumRuns: 4), room.index).bytes
        let plan = try await room.store.plan(RetentionPolicy(maximumBytes: each * 3 + 50), room.index)
        #expect(plan.removals.map(\.run) == [1, 2])
    }

    @Test func `the newest run of a branch stays`() async throws {
        let room = try ArchiveRoom { Self.now }
        for head in 1...3 { try await room.completed(Sample.request(change: nil, head: head)) }
        try await room.completed(Sample.request("alpha", "release", change: nil, head: 3))
        try await room.completed(Sample.request(change: "7", head: 9))
        let policy = RetentionPolicy(maximumAgeDays: 1)
        let plan = try await room.store.plan(policy, room.index)
        #expect(plan.removals.map(\.run) == [1, 2])
        #expect(plan.kept.map(\.run) == [3, 4, 5])
        let none = try await room.store.plan(
            RetentionPolicy(maximumAgeDays: 1, keepNewestPerBranch: 0), room.index)
        #expect(none.removals.map(\.run) == [1, 2], "the newest verdict of a branch stays whatever is asked")
    }

    @Test func `the newest verdict of each workflow of an open change stays`() async throws {
        let room = try ArchiveRoom { Sample.start.addingTimeInterval(10 * Self.day) }
        for head in 1...2 { try await room.completed(Sample.request(change: "7", head: head)) }
        try await room.completed(Sample.request("alpha", "lint", change: "7", head: 2))
        try await room.completed(Sample.request(change: "8", head: 3))
        try await room.completed(Sample.request(change: nil, head: 4))
        try await room.index.setChange(Sample.change("7", .open), of: "alpha")
        try await room.index.setChange(Sample.change("8", .landed, landed: Sample.commit(3)), of: "alpha")
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(plan.removals.map(\.run) == [1, 4])
        #expect(plan.kept.filter { $0.reason == .newestOfOpenChange }.map(\.run) == [2, 3])
        for state in [ChangeRecord.State.stale, .conflict] {
            try await room.index.setChange(Sample.change("7", state), of: "alpha")
            #expect(try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index) == plan)
        }
    }

    @Test func `the newest verdicts of changes and branches stay for 90 days, and the target's always`() async throws {
        let room = try ArchiveRoom { Self.now }
        let ages = [91.0, 89]
        /// A run that ended `age` days ago.
        func completed(_ change: String?, branch: String = "main", head: Int, age: Double) async throws {
            var request = Sample.request(change: change, head: head)
            request.branch = branch
            if change == nil { (request.ref, request.subject) = ("refs/heads/\(branch)", branch) }
            try await room.completed(request, endedAt: Self.now.addingTimeInterval(-Self.day * age))
        }
        for (number, age) in ages.enumerated() {
            try await completed("\(number)", head: number, age: age)
            try await room.index.setChange(Sample.change("\(number)", .open), of: "alpha")
            try await completed(nil, branch: "release/\(number)", head: 10 + number, age: age)
        }
        try await completed(nil, branch: "main", head: 20, age: 99)
        try await completed("9", head: 30, age: 1)
        try await room.index.setTarget("main", of: "alpha")
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(plan.removals.map(\.run) == [1, 2])
        #expect(
            plan.kept.map(\.reason) == [.newestOfOpenChange, .newestOfBranch, .newestOfBranch, .newestOfAll])
        try await room.index.setTarget("release/0", of: "alpha")
        let other = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(other.removals.map(\.run) == [1, 5], "main is a branch like any other then")
        let young = try await room.store.plan(RetentionPolicy(maximumAgeDays: 95), room.index)
        #expect(young.removals.map(\.run) == [5], "what is over no limit stays, whatever protects it")
    }

    @Test func `a question that nobody has answered stays, however old it is`() async throws {
        let room = try ArchiveRoom { Sample.start.addingTimeInterval(1_000 * Self.day) }
        let asked = Sample.request(change: "6", head: 6)
        let id = try await room.completed(
            asked, verdict: .needsApproval,
            approvals: [
                Approval(
                    step: nil, why: "tests were removed", head: asked.head, definition: asked.definitionCommit,
                    binding: "b", askedAt: Sample.start)
            ])
        try await room.completed(Sample.request(change: "10", head: 10))
        let plan = try await room.store.plan(RetentionPolicy(maximumAgeDays: 1), room.index)
        #expect(plan.kept.first { $0.run == id }?.reason == .waitsForPerson)
    }

    @Test func `a part of a run and a superseded run are not the newest verdict`() async throws {
        let room = try ArchiveRoom { Self.now }
        try await room.completed(Sample.request(change: nil, head: 1))
        var part = Sample.request(change: nil, head: 1, nonce: "part")
        part.onlySteps = ["unit tests"]
        try await room.completed(part)
        var again = Sample.request(change: nil, head: 1, nonce: "again")
        again.kind = .flakeProbe(1)
        try await room.completed(again)
        try await room.completed(Sample.request(change: nil, head: 2, nonce: "newer"), verdict: .superseded)
        try await room.completed(Sample.request(change: "9", head: 9))
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(plan.removals.map(\.run) == [2, 3, 4])
        #expect(plan.kept.map(\.reason) == [.newestOfBranch, .newestOfAll])
    }

    @Test func `a run that waits for a person stays`() async throws {
        let room = try await room()
        var asked = Sample.request(change: "6", head: 6)
        asked.nonce = "asked"
        let id = try await room.completed(
            asked, verdict: .needsApproval,
            approvals: [
                Approval(
                    step: nil, why: "tests were removed", head: asked.head, definition: asked.definitionCommit,
                    binding: "b", askedAt: Sample.start)
            ])
        try await room.completed(Sample.request(change: "10", head: 10))
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(plan.kept.first { $0.run == id }?.reason == .waitsForPerson)
        #expect(!plan.removals.map(\.run).contains(id))
        _ = try await room.index.answer(id, step: nil, .approved, by: "ada", user: 1, comment: nil)
        let after = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(after.removals.map(\.run).contains(id), "once answered it goes like any other")
    }

    @Test func `live runs stay`() async throws {
        let room = try await room()
        try await room.index.accept(Sample.request(change: "9", head: 9))
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 0), room.index)
        #expect(!plan.removals.map(\.run).contains(6))
    }

    @Test func `artifacts are removed with their last run`() async throws {
        let clock = Date().addingTimeInterval(2 * Self.day)
        let room = try ArchiveRoom { clock }
        for head in 1...2 {
            try await room.completed(Sample.request(change: "\(head)", head: head), artifacts: [ArchiveRoom.artifact])
        }
        let first = try await room.store.plan(RetentionPolicy(maximumRuns: 1), room.index)
        #expect(first.artifacts.isEmpty, "the second run names it too")
        try await room.store.apply(first, room.index)
        #expect(room.store.artifact(ArchiveRoom.digest) != nil)
        try await room.completed(Sample.request(change: "3", head: 3))
        let second = try await room.store.plan(RetentionPolicy(maximumRuns: 1), room.index)
        #expect(second.artifacts == [RetentionPlan.Artifact(sha256: ArchiveRoom.digest, bytes: 3)])
        #expect(second.bytes == second.removals[0].bytes + 3)
        try await room.store.apply(second, room.index)
        #expect(room.store.artifact(ArchiveRoom.digest) == nil)
    }

    @Test func `an artifact of the last hour stays`() async throws {
        let room = try ArchiveRoom { Date() }
        _ = try await room.store.write(
            Sample.report(1, artifacts: [ArchiveRoom.artifact]), request: Sample.request(), files: room.files())
        #expect(try await room.store.plan(RetentionPolicy(), room.index).artifacts.isEmpty)
    }

    @Test func `nothing is removed if the index lacks runs`() async throws {
        let room = try await room()
        let plan = try await room.store.plan(RetentionPolicy(maximumRuns: 1), room.index)
        try await room.store.write(Sample.report(9, Sample.request(head: 9)), request: Sample.request(head: 9))
        let error = await #expect(throws: ArchiveError.self) { try await room.store.apply(plan, room.index) }
        #expect(error?.code == .unusableArchive)
        #expect(try await room.store.ids().count == 6)
    }
}
