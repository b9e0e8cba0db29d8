import TestBasics
@testable import Results
@testable import Store
import Foundation
import GRDB
import Pipeline
import TestSupport
import Testing

@testable import Archive

/// Which steps are proved, for which runs, and for how long.
@Suite struct ProofIndexTests {
    static func key(_ number: Int, definition: String = "d") -> StepKey {
        let digits = String(number)
        return StepKey(
            value: String(repeating: "0", count: 64 - digits.count) + digits, definition: definition,
            parts: ["inputs": digits])
    }

    static func step(
        _ name: String, _ key: StepKey?, _ status: StepStatus = .passed, provedBy: RunID? = nil
    ) -> StepRecord {
        var step = Sample.step(name, status)
        step.key = key
        step.provedBy = provedBy.map { ProofCitation(run: $0, attempt: 1, step: name) }
        return step
    }

    /// Ends and archives a run with these steps.
    @discardableResult
    private func run(
        _ room: ArchiveRoom, _ request: RunRequest, _ trust: Trust, _ steps: [StepRecord],
        verdict: Verdict = .passed, endedAt: Date = Sample.start, change: (inout Report) -> Void = { _ in }
    ) async throws -> RunID {
        let id = try await room.index.accept(request).run.id
        try await room.index.markRunning(id)
        var report = Sample.report(id, request, verdict: verdict, tests: [], endedAt: endedAt)
        (report.steps, report.trust) = (steps, trust)
        change(&report)
        let archived = try await room.store.write(report, request: request)
        try await room.index.finish(report, tests: [], archivedBytes: archived.bytes)
        return id
    }

    private func proof(_ room: ArchiveRoom, _ number: Int, _ trust: Trust, _ request: RunRequest) async throws
        -> StepProof?
    {
        let key = Self.key(number).value
        return try await room.index.proofs(
            of: [key, Self.key(999).value], in: request.repository, scopes: ProofScope.believed(trust, request))[key]
    }

    @Test func `a change's proof is valid for it, and merged code's for all`() async throws {
        let room = try ArchiveRoom()
        let (seven, eight) = (Sample.request(change: "7"), Sample.request(change: "8", head: 2))
        let first = try await run(room, seven, .change, [Self.step("build", Self.key(1))])
        #expect(try await proof(room, 1, .change, Sample.request(change: "7", head: 5))?.citation.run == first)
        #expect(try await proof(room, 1, .change, eight) == nil, "nothing of one change is believed for another one")
        #expect(try await proof(room, 1, .merged, Sample.request(change: nil, head: 3)) == nil)
        #expect(try await proof(room, 1, .change, Sample.request("beta", change: "7")) == nil, "another repository")
        var merge = Sample.request(change: nil, head: 4)
        merge.mergedChanges = [
            MergedChange(name: "7", head: Sample.commit(1), commit: Sample.commit(4), recognition: .squash)
        ]
        #expect(try await proof(room, 1, .merged, merge)?.citation.run == first, "the merge of the same change")
        #expect(try await proof(room, 1, .change, merge) == nil, "a branch may say of itself that it brings a change")

        let merged = try await run(
            room, Sample.request(change: nil, head: 6), .merged, [Self.step("build", Self.key(2))])
        for request in [seven, eight, merge] {
            #expect(try await proof(room, 2, .change, request)?.citation.run == merged)
        }
    }

    @Test func `a change with the name of another one does not use its proofs`() async throws {
        let room = try ArchiveRoom()
        try await room.index.recordBaseline(of: "alpha", location: "", refs: [:])
        func look(_ state: ChangeRecord.State, landed: String? = nil) async throws {
            let record = ChangeRecord(
                name: "agent/x", target: "main", head: Sample.commit(1), state: state, title: "", author: "",
                landedCommit: landed)
            _ = try await room.index.recordLook(
                repository: "alpha", moved: [], requests: [], changes: [record])
        }
        try await look(.open)
        for (head, state, landed) in [(1, ChangeRecord.State.closed, nil), (2, .landed, Sample.commit(4))] {
            let request = Sample.request(change: "agent/x", head: head)
            let first = try await run(room, request, .change, [Self.step("build", Self.key(1))])
            try await look(.stale)
            try await look(.open)
            #expect(try await proof(room, 1, .change, request)?.citation.run == first)
            try await look(state, landed: landed)
            #expect(
                try await proof(room, 1, .change, request)?.citation.run == first, "its merge may come with this look")
            let late = try await room.index.accept(Sample.request(change: "agent/x", head: head + 10)).run.id
            try await look(.open)
            #expect(try await proof(room, 1, .change, request) == nil, "whoever has the name now is another")
            var report = Sample.report(late, Sample.request(change: "agent/x", head: head + 10), tests: [])
            (report.steps, report.trust) = ([Self.step("build", Self.key(1))], .change)
            try await room.index.markRunning(late)
            let archived = try await room.store.write(
                report, request: Sample.request(change: "agent/x", head: head + 10))
            try await room.index.finish(report, tests: [], archivedBytes: archived.bytes)
            #expect(try await proof(room, 1, .change, request) == nil, "it was begun for the change before")
            var again = late
            for nonce in ["once", "twice"] {
                var repetition = Sample.request(change: "agent/x", head: head + 10)
                (repetition.nonce, repetition.kind) = (nonce, .rerun(RunKind.Rerun(of: again)))
                again = try await run(room, repetition, .change, [Self.step("build", Self.key(1))]) {
                    $0.rerunOf = repetition.rerun?.of
                }
            }
            #expect(try await proof(room, 1, .change, request) == nil, "they repeat one of the change before")
        }
    }

    @Test func `a change's proof is valid for all once the change has landed`() async throws {
        let room = try ArchiveRoom()
        let first = try await run(room, Sample.request(change: "7"), .change, [Self.step("build", Self.key(1))])
        let cited = Self.step("build", Self.key(1), provedBy: first)
        // Another run of the change that uses the proof is no proof of its own.
        try await run(room, Sample.request(change: "7", head: 2), .change, [cited])
        #expect(try await proof(room, 1, .change, Sample.request(change: "8", head: 3)) == nil)
        try await run(room, Sample.request(change: nil, head: 4), .merged, [cited])
        let proof = try await proof(room, 1, .change, Sample.request(change: "8", head: 3))
        #expect(proof?.citation == ProofCitation(run: first, attempt: 1, step: "build"), "the run that ran it is cited")
        #expect(proof?.scope == ProofScope.merged)
    }

    @Test(arguments: [StepStatus.failed, .skipped, .cancelled, .timedOut, .infrastructure])
    func `only a passed step is a proof`(status: StepStatus) async throws {
        let room = try ArchiveRoom()
        try await run(room, Sample.request(), .change, [Self.step("a", Self.key(1), status)], verdict: .failed)
        #expect(try await proof(room, 1, .change, Sample.request()) == nil)
    }

    @Test func `a branch that is made anew does not use the old one's proofs`() async throws {
        let room = try ArchiveRoom()
        try await room.index.recordBaseline(
            of: "alpha", location: "", refs: ["refs/heads/x": Sample.commit(1), "refs/heads/y": Sample.commit(1)])
        func request(_ branch: String, _ head: Int) -> RunRequest {
            var request = Sample.request(change: nil, head: head)
            (request.ref, request.branch, request.subject) = ("refs/heads/\(branch)", branch, branch)
            return request
        }
        for branch in ["x", "y"] {
            try await run(room, request(branch, 1), .change, [Self.step("build", Self.key(1))])
        }
        let late = try await room.index.accept(request("x", 2)).run.id
        func move(_ old: Int?, _ new: Int?) async throws {
            _ = try await room.index.recordLook(
                repository: "alpha",
                moved: [RefMove(ref: "refs/heads/x", old: old.map(Sample.commit), new: new.map(Sample.commit))],
                requests: [], changes: [])
        }
        #expect(try await proof(room, 1, .change, request("x", 3)) != nil)
        try await move(1, nil)
        try await move(nil, 1)
        #expect(try await proof(room, 1, .change, request("x", 3)) == nil)
        #expect(try await proof(room, 1, .change, request("y", 3)) != nil)
        try await room.index.markRunning(late)
        var report = Sample.report(late, request("x", 2), tests: [])
        (report.steps, report.trust) = ([Self.step("build", Self.key(1))], .change)
        let archived = try await room.store.write(report, request: request("x", 2))
        try await room.index.finish(report, tests: [], archivedBytes: archived.bytes)
        #expect(try await proof(room, 1, .change, request("x", 3)) == nil, "it was begun for the branch before")
        let next = try await run(room, request("x", 4), .change, [Self.step("build", Self.key(1))])
        #expect(try await proof(room, 1, .change, request("x", 5))?.citation.run == next)
    }

    /// Its inputs were made by the wrongly proved step.
    @Test func `steps that needed a wrongly proved step lose their proofs`() async throws {
        let room = try ArchiveRoom()
        var steps = [1, 2, 3, 4].map { Self.step("s\($0)", Self.key($0)) }
        (steps[1].needs, steps[2].needs) = (["s1"], ["s2"])
        let first = try await run(room, Sample.request(change: nil, head: 1), .merged, steps)
        var wrong = steps
        (wrong[0].status, wrong[0].key) = (.failed, nil)
        wrong[0].refutes = ProofRefutation(
            proof: ProofCitation(run: first, attempt: 1, step: "s1"), definition: "none of the others")
        for index in 1...3 { (wrong[index].status, wrong[index].key) = (.skipped, nil) }
        try await run(room, Sample.request(change: nil, head: 2), .merged, wrong, verdict: .failed)
        let left = try await room.index.proofCounts().map(\.step)
        #expect(left == ["s1", "s4"], "of s1 by its definition only")
    }

    @Test func `a working tree proves nothing`() async throws {
        let room = try ArchiveRoom()
        var request = Sample.request(change: nil)
        (request.ref, request.branch, request.event) = ("", nil, .manual)
        try await run(room, request, .change, [Self.step("a", Self.key(1))])
        #expect(try await proof(room, 1, .change, request) == nil)
    }

    @Test func `a passed step of a failed run is a proof`() async throws {
        let room = try ArchiveRoom()
        let steps = [Self.step("a", Self.key(1)), Self.step("b", nil, .failed)]
        try await run(room, Sample.request(), .change, steps, verdict: .failed)
        #expect(try await proof(room, 1, .change, Sample.request()) != nil)
    }

    @Test func `a proof is removed with its run`() async throws {
        let room = try ArchiveRoom { Sample.start.addingTimeInterval(100 * 86_400) }
        let first = try await run(room, Sample.request(change: "7"), .change, [Self.step("a", Self.key(1))])
        try await run(
            room, Sample.request(change: "9", head: 9), .change, [Self.step("a", Self.key(2))],
            endedAt: Sample.start.addingTimeInterval(100 * 86_400))
        #expect(try await proof(room, 1, .change, Sample.request(change: "7"))?.citation.run == first)
        let plan = try await room.store.plan(RetentionPolicy(maximumAgeDays: 30), room.index)
        #expect(plan.removals.map(\.run) == [first])
        try await room.store.apply(plan, room.index)
        #expect(try await proof(room, 1, .change, Sample.request(change: "7")) == nil)
        #expect(try await proof(room, 2, .change, Sample.request(change: "9")) != nil)
    }

    @Test func `outputs are stored as long as their run`() async throws {
        let room = try ArchiveRoom { Date().addingTimeInterval(200 * 86_400) }
        var step = Self.step("build", Self.key(1))
        step.outputs = OutputRecord(sha256: ArchiveRoom.digest, bytes: 3, files: 1)
        for head in 1...2 {
            let request = Sample.request(change: "\(head)", head: head)
            let id = try await room.index.accept(request).run.id
            try await room.index.markRunning(id)
            var report = Sample.report(
                id, request, tests: [], endedAt: Date().addingTimeInterval(head == 1 ? 0 : 199 * 86_400))
            (report.steps, report.trust) = (head == 1 ? [step] : [], .change)
            let archived = try await room.store.write(report, request: request, files: room.files())
            try await room.index.finish(report, tests: [], archivedBytes: archived.bytes)
        }
        #expect(room.store.artifact(ArchiveRoom.digest) != nil)
        #expect(try await room.store.verify(room.index).isEmpty)
        let none = try await room.store.plan(RetentionPolicy(), room.index)
        #expect(none.artifacts.isEmpty, "a run names it")
        let path = try #require(room.store.artifact(ArchiveRoom.digest))
        let policy = RetentionPolicy(maximumAgeDays: 30)
        try await room.store.apply(room.store.plan(policy, room.index), room.index)
        #expect(room.store.artifact(ArchiveRoom.digest) == nil)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `a wrong proof removes all proofs of its declaration`() async throws {
        let room = try ArchiveRoom()
        let (one, other) = (Self.key(1, definition: "lying"), Self.key(2, definition: "lying"))
        let first = try await run(
            room, Sample.request(change: nil, head: 1), .merged,
            [Self.step("a", one), Self.step("honest", Self.key(3, definition: "honest"))])
        try await run(room, Sample.request(change: nil, head: 2), .merged, [Self.step("a", other)])
        var failed = Self.step("a", nil, .failed)
        failed.refutes = ProofRefutation(proof: ProofCitation(run: first, attempt: 1, step: "a"), definition: "lying")
        let catcher = try await run(room, Sample.request(change: "7", head: 3), .change, [failed], verdict: .failed)
        let request = Sample.request(change: "8", head: 4)
        #expect(try await proof(room, 1, .change, request) == nil)
        #expect(try await proof(room, 2, .change, request) == nil, "all of the class")
        #expect(try await proof(room, 3, .change, request) != nil, "and nothing else")
        let distrusted = try await room.index.distrustedSteps(of: "alpha")
        #expect(distrusted.map(\.definition) == ["lying"])
        #expect(distrusted.map(\.run) == [catcher] && distrusted.map(\.provedBy) == [first])
        #expect(try await room.index.distrustedSteps(of: "beta").isEmpty)
        try await run(room, Sample.request(change: nil, head: 5), .merged, [Self.step("a", one)])
        #expect(try await proof(room, 1, .change, request) == nil, "it proves nothing any more")
        #expect(try await room.index.trustProofs(of: "a", in: "beta") == 0)
        #expect(try await room.index.trustProofs(of: "a", in: "alpha") == 1)
        try await run(room, Sample.request(change: nil, head: 6), .merged, [Self.step("a", one)])
        #expect(try await proof(room, 1, .change, request) != nil)
    }

    @Test func `a wrong proof of one change may affect that change alone`() async throws {
        let room = try ArchiveRoom()
        let (seven, eight) = (Sample.request(change: "7", head: 1), Sample.request(change: "8", head: 2))
        let first = try await run(room, seven, .change, [Self.step("a", Self.key(1, definition: "lying"))])
        try await run(room, eight, .change, [Self.step("a", Self.key(1, definition: "lying"))])
        var failed = Self.step("a", nil, .failed)
        failed.refutes = ProofRefutation(
            proof: ProofCitation(run: first, attempt: 1, step: "a"), definition: "lying", scope: ProofScope.change("7"))
        try await run(room, Sample.request(change: "7", head: 3), .change, [failed], verdict: .failed)
        #expect(try await proof(room, 1, .change, seven) == nil)
        #expect(try await proof(room, 1, .change, eight) != nil)
        #expect(try await room.index.distrustedSteps(of: "alpha").isEmpty)
    }

    @Test func `a step is distrusted for a week after one wrong proof and for good after two`() async throws {
        let room = try ArchiveRoom()
        func wrong(_ head: Int, _ day: Double) async throws {
            var failed = Self.step("a", nil, .failed)
            failed.refutes = ProofRefutation(proof: ProofCitation(run: 1, attempt: 1, step: "a"), definition: "d")
            try await run(
                room, Sample.request(change: "7", head: head), .change, [failed], verdict: .failed,
                endedAt: Sample.start.addingTimeInterval(day * 86_400))
        }
        func distrusted(_ day: Double) async throws -> [String] {
            try await room.index.distrustedSteps(at: Sample.start.addingTimeInterval(day * 86_400)).map(\.step)
        }
        try await wrong(1, 0)
        #expect(try await distrusted(6.9) == ["a"])
        #expect(try await distrusted(7.1) == [])
        try await run(
            room, Sample.request(change: nil, head: 2), .merged, [Self.step("a", Self.key(1))],
            endedAt: Sample.start.addingTimeInterval(7.1 * 86_400))
        #expect(try await proof(room, 1, .change, Sample.request(change: "8", head: 9)) != nil)
        try await wrong(3, 8)
        #expect(try await proof(room, 1, .change, Sample.request(change: "8", head: 9)) == nil)
        #expect(try await distrusted(999) == ["a"])
    }

    @Test func `a fresh run uses no warm run's proof, and its failure removes them`() async throws {
        let room = try ArchiveRoom()
        let base = Report.Base(run: 1, commit: Sample.commit(1), changedFiles: 0)
        func believed(_ number: Int, fromNothing: Bool) async throws -> RunID? {
            let key = Self.key(number).value
            return try await room.index.proofs(
                of: [key], in: "alpha", scopes: [ProofScope.merged], fromNothing: fromNothing)[key]?.citation.run
        }
        let cold = try await run(room, Sample.request(change: nil, head: 1), .merged, [Self.step("a", Self.key(1))])
        let warm = try await run(
            room, Sample.request(change: nil, head: 2), .merged,
            [Self.step("a", Self.key(1)), Self.step("b", Self.key(2))]
        ) { $0.base = base }
        #expect(try await believed(1, fromNothing: false) == warm)
        #expect(try await believed(1, fromNothing: true) == cold, "the older one is not lost")
        #expect(try await believed(2, fromNothing: true) == nil)
        // Outputs that were restored from a warm run make later runs warm, even without a snapshot.
        try await run(
            room, Sample.request(change: nil, head: 3), .merged,
            [Self.step("b", Self.key(2), provedBy: warm), Self.step("c", Self.key(3))])
        #expect(try await believed(3, fromNothing: true) == nil)
        #expect(try await believed(3, fromNothing: false) != nil)
        #expect(try await believed(2, fromNothing: true) == nil, "a citation of it is no more")
        try await run(room, Sample.request(change: nil, head: 4), .merged, [], verdict: .failed) {
            $0.findings = [
                Finding(
                    rule: Report.warmDiffers, severity: .error, message: "m", file: nil, line: nil, column: nil,
                    suggestion: nil)
            ]
        }
        #expect(try await believed(1, fromNothing: false) == cold)
        for number in 2...3 { #expect(try await believed(number, fromNothing: false) == nil) }
    }

    /// Except proofs of changes, whose names other changes may have now.
    @Test func `reindexing gives the same proofs`() async throws {
        let room = try ArchiveRoom()
        let seven = Sample.request(change: "7")
        let first = try await run(room, seven, .change, [Self.step("a", Self.key(1)), Self.step("d", Self.key(4))])
        try await run(
            room, Sample.request(change: nil, head: 2), .merged,
            [Self.step("a", Self.key(1), provedBy: first), Self.step("b", Self.key(2))])
        var failed = Self.step("c", nil, .failed)
        failed.refutes = ProofRefutation(proof: ProofCitation(run: first, attempt: 1, step: "c"), definition: "gone")
        try await run(room, Sample.request(change: "9", head: 3), .change, [failed], verdict: .failed)
        let fresh = try Index.inMemory()
        _ = try await room.store.reindex(into: fresh)
        #expect(
            try await room.index.proofCounts().map { "\($0.step) \($0.merged) \($0.own)" } == [
                "a 1 1", "b 1 0", "d 0 1",
            ])
        #expect(try await fresh.proofCounts().map { "\($0.step) \($0.merged) \($0.own)" } == ["a 1 0", "b 1 0"])
        #expect(try await fresh.distrustedSteps() == room.index.distrustedSteps())
        let keys = [Self.key(1).value, Self.key(2).value]
        let scopes = [ProofScope.merged]
        let restored = try await fresh.proofs(of: keys, in: "alpha", scopes: scopes)
        #expect(try await restored == room.index.proofs(of: keys, in: "alpha", scopes: scopes))
        #expect(restored.count == 2)
        let next = try await fresh.accept(Sample.request(change: "7", head: 8)).run.id
        try await fresh.markRunning(next)
        var report = Sample.report(next, Sample.request(change: "7", head: 8), tests: [])
        (report.steps, report.trust) = ([Self.step("d", Self.key(4))], .change)
        try await fresh.finish(report, tests: [], archivedBytes: 1)
        let found = try await fresh.proofs(
            of: [Self.key(4).value], in: "alpha", scopes: ProofScope.believed(.change, seven))
        #expect(found.values.map(\.citation.run) == [next], "what it proves from now on holds")
    }

    @Test func `a report that was not archived proves nothing`() async throws {
        let room = try ArchiveRoom()
        let request = Sample.request()
        let id = try await room.index.accept(request).run.id
        try await room.index.markRunning(id)
        var report = Sample.report(id, request, tests: [])
        (report.steps, report.trust) = ([Self.step("a", Self.key(1))], .change)
        try await room.index.finish(report, tests: [])
        #expect(try await proof(room, 1, .change, request) == nil, "nobody could read what it proves")
    }

    @Test func `artifacts of a proved step need no file of the run`() async throws {
        let room = try ArchiveRoom()
        let first = try await room.completed(artifacts: [ArchiveRoom.artifact])
        let request = Sample.request(change: "8", head: 2)
        let id = try await room.index.accept(request).run.id
        try await room.index.markRunning(id)
        var report = Sample.report(id, request, tests: [], artifacts: [ArchiveRoom.artifact])
        report.steps = [Self.step("build", Self.key(1), provedBy: first)]
        let archived = try await room.store.write(report, request: request)
        try await room.index.finish(report, tests: [], archivedBytes: archived.bytes)
        #expect(try await room.store.verify(room.index).isEmpty)
        #expect(try await room.index.runs(withArtifact: ArchiveRoom.digest) == [first, id])
        report.steps = [Self.step("build", Self.key(1))]
        report.id = 99
        let unproved = report
        await #expect(throws: ArchiveError.self) { try await room.store.write(unproved, request: request) }
    }

    @Test func `an index from before proofs is migrated`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/index.sqlite"
        let old = try Index(path: path)
        let id = try await old.completed(Sample.request())
        try await old.write { db in
            try db.execute(
                sql: "DROP TABLE proof; DROP TABLE distrust; DELETE FROM grdb_migrations WHERE identifier = '4 proof'")
        }
        let index = try Index(path: path)
        #expect(try await index.run(id)?.summary.verdict == .passed)
        #expect(try await index.proofCounts().isEmpty)
        let next = try await index.accept(Sample.request(change: "8", head: 2)).run.id
        try await index.markRunning(next)
        var report = Sample.report(next, Sample.request(change: "8", head: 2), tests: [])
        (report.steps, report.trust) = ([Self.step("a", Self.key(1))], .change)
        try await index.finish(report, tests: [], archivedBytes: 10)
        #expect(try await index.proofCounts().map(\.own) == [1])
    }
}
