import TestBasics
@testable import Archive
@testable import Results
@testable import Store
import Foundation
import TestSupport
import Testing

/// Runs that wait for approval, in the index and in the archive.
@Suite struct ApprovalTests {
    static func question(_ step: String? = nil, binding: String = "b") -> Approval {
        Approval(
            step: step, why: "a reason", head: Sample.commit(1), definition: Sample.commit(2), binding: binding,
            askedAt: Sample.start)
    }

    /// A run that was started and waits for approval.
    private func held(_ index: Index, _ request: RunRequest = Sample.request()) async throws -> RunID {
        let id = try await index.accept(request).run.id
        try await index.markRunning(id)
        #expect(try await index.hold(id, for: Self.question(), trust: .change) == .held)
        return id
    }

    @Test func `a held run waits until a person approves`() async throws {
        let index = try await Index.watching()
        let id = try await held(index)
        let summary = try #require(try await index.run(id)).summary
        #expect(summary.state == .queued)
        #expect(summary.heldFor == "a reason")
        #expect(summary.trust == .change)
        #expect(summary.attempt == 0 && summary.startedAt == nil, "it has not run")
        #expect(try await index.claimNext() == nil)
        #expect(try await index.queued().isEmpty)
        #expect(try await index.runs(RunFilter(verdicts: [.needsApproval])).map(\.id) == [id])

        let answer = try await index.answer(id, step: nil, .approved, by: "ada", user: 7, comment: "fine")
        guard case .recorded(let approval) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(approval.by == "ada" && approval.user == 7 && approval.comment == "fine")
        #expect(approval.decidedAt == Sample.start)
        #expect(try await index.answer(id, step: nil, .approved, by: "eve", user: 8, comment: nil) == .known(approval))
        #expect(try await index.run(id)?.summary.heldFor == nil)
        #expect(try await index.claimNext()?.attempt == 1)
        #expect(try await index.approval(holdingFor: "b") == approval)
        #expect(try await index.approval(holdingFor: "c") == nil)
    }

    @Test func `a rejected run ends and its answer is final`() async throws {
        let index = try await Index.watching()
        let id = try await held(index)
        _ = try await index.answer(id, step: nil, .rejected, by: "ada", user: 7, comment: "no")
        let run = try #require(try await index.run(id))
        #expect(run.summary.verdict == .cancelled)
        #expect(run.summary.reason == "not approved: rejected by ada: no")
        #expect(run.approvals.map(\.decision) == [.rejected])
        let error = await #expect(throws: ArchiveError.self) {
            _ = try await index.answer(id, step: nil, .approved, by: "eve", user: 8, comment: nil)
        }
        #expect(error?.code == .wrongState)
        #expect(error?.description.contains("was already rejected by ada. `pipectl rerun \(id)`") == true)
        #expect(try await index.approval(holdingFor: "b") == nil)
    }

    @Test func `a run that does not wait can't be answered`() async throws {
        let index = try await Index.watching()
        func refusal(_ id: RunID, step: String? = nil) async -> ArchiveError? {
            await #expect(throws: ArchiveError.self) {
                _ = try await index.answer(id, step: step, .approved, by: "ada", user: 7, comment: nil)
            }
        }
        #expect(await refusal(99)?.code == .unknownRun)
        let id = try await index.accept(Sample.request()).run.id
        #expect(await refusal(id)?.description.contains("does not wait for approval; the run is queued") == true)
        try await index.markRunning(id)
        let asked = try await index.ask(Self.question("ship it"), of: id)
        #expect(try await index.ask(Self.question("ship it"), of: id) == asked, "asked once")
        #expect(await refusal(id)?.description.contains("`pipectl approve \(id) --step \"ship it\"`") == true)
        #expect(await refusal(id, step: "x\u{1b}[31m")?.code == .wrongState)
        _ = try await index.answer(id, step: "ship it", .approved, by: "ada", user: 7, comment: nil)
        #expect(
            try await index.ask(Self.question("ship it"), of: id).by == "ada", "the answer is there after a restart")
        try await index.finish(Sample.report(id), tests: [], archivedBytes: 1)
        #expect(await refusal(id)?.description.contains("has ended") == true)
    }

    @Test func `a newer push supersedes a held run`() async throws {
        let index = try await Index.watching()
        let id = try await held(index)
        let newer = try await index.accept(Sample.request(head: 2))
        #expect(newer.superseded.map(\.run) == [id])
        #expect(try await index.run(id)?.summary.verdict == .superseded)
        #expect(try await index.run(id)?.approvals.isEmpty == true, "nobody need answer any more")
        #expect(try await index.claimNext()?.id == newer.run.id)
    }

    @Test func `a run that is being superseded is not held`() async throws {
        let index = try await Index.watching()
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        #expect(try await index.accept(Sample.request(head: 2)).toCancel.map(\.run) == [id])
        #expect(try await index.hold(id, for: Self.question(), trust: .change) == .overtaken)
        #expect(try await index.putBack(id) == false)
        #expect(try await index.run(id)?.summary.state == .running)
    }

    @Test func `a held run survives a restart and can be cancelled`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/index.sqlite"
        let id: RunID
        do {
            let index = try Index(path: path)
            try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
            id = try await held(index)
        }
        let index = try Index(path: path)
        #expect(try await index.recoverInterrupted().isEmpty)
        #expect(try await index.run(id)?.summary.heldFor == "a reason")
        #expect(try await index.cancelQueued(id, reason: "no more"))
        #expect(try await index.run(id)?.summary.heldFor == nil)
    }

    @Test func `a requeued run is another attempt`() async throws {
        let index = try await Index.watching()
        let id = try await index.accept(Sample.request()).run.id
        try await index.markRunning(id)
        _ = try await index.ask(Self.question("gate"), of: id)
        #expect(try await index.putBack(id))
        #expect(try await index.claimNext()?.attempt == 2, "a step's question holds no run back")
    }

    @Test func `answers are restored from the archive`() async throws {
        let room = try ArchiveRoom()
        let id = try await held(room.index)
        _ = try await room.index.answer(id, step: nil, .approved, by: "ada", user: 7, comment: "fine")
        try await room.index.markRunning(id)
        var report = Sample.report(id)
        report.trust = .change
        report.approvals = try await room.index.approvals(of: id)
        try await room.store.write(report, request: Sample.request(), tests: Sample.tests)
        try await room.index.finish(report, tests: Sample.tests, archivedBytes: 1)
        let rebuilt = try Index.inMemory { Sample.start }
        #expect(try await room.store.reindex(into: rebuilt).restored == 1)
        #expect(try await rebuilt.approval(holdingFor: "b")?.by == "ada")
        #expect(try await rebuilt.run(id)?.approvals == report.approvals)
        #expect(try await rebuilt.run(id)?.summary.trust == .change)
    }
}
