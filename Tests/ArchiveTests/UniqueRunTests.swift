import TestBasics
@testable import Results
@testable import Store
@testable import Archive
import Foundation
import Pipeline
import TestSupport
import Testing

/// One run for a repository, ref, commit and definition, however often and in whichever way it is observed.
@Suite struct UniqueRunTests {
    static let main = "refs/heads/main"
    static let pull = "refs/pull/7/head"

    /// A request for change 7 at head 1, merged with commit `onto`.
    static func change(onto: Int, nonce: String = "") -> RunRequest {
        var request = Sample.request(nonce: nonce)
        request.definitionCommit = Sample.commit(onto)
        request.change?.targetCommit = Sample.commit(onto)
        return request
    }

    @Test func `a poll and a hook at the same time make one run`() async throws {
        let index = try await Index.watching()
        let move = RefMove(ref: Self.pull, old: nil, new: Sample.commit(1))
        let outcomes = await withTaskGroup(of: LookOutcome?.self, returning: [LookOutcome?].self) { group in
            for _ in 1...20 {
                group.addTask {
                    // Both have read the same cursor; the second one is told so and reads again.
                    try? await index.recordLook(
                        repository: "alpha", moved: [move], requests: [Self.change(onto: 0)], changes: [])
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.compactMap { $0 }.count == 1)
        #expect(try await index.runs().count == 1)
    }

    @Test func `a replay after a restart makes no run`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/index.sqlite"
        do {
            let index = try Index(path: path)
            try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
            _ = try await index.recordLook(
                repository: "alpha", moved: [RefMove(ref: Self.pull, old: nil, new: Sample.commit(1))],
                requests: [Self.change(onto: 0)], changes: [])
        }
        let index = try Index(path: path)
        // As if the cursor was lost with the end of the log: the ref looks new again.
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
        let again = try await index.recordLook(
            repository: "alpha", moved: [RefMove(ref: Self.pull, old: nil, new: Sample.commit(1))],
            requests: [Self.change(onto: 0)], changes: [])
        #expect(again.queued.isEmpty)
        #expect(again.alreadyKnown == [1])
        #expect(try await index.runs().count == 1)
    }

    @Test func `a target that moved makes a new run`() async throws {
        let index = try await Index.watching()
        #expect(try await index.accept(Self.change(onto: 0)).isNew)
        _ = try await index.cancelQueued(1, reason: "by hand")
        try await index.completed(Self.change(onto: 10))
        #expect(try await index.accept(Self.change(onto: 11)).isNew, "another merge, and perhaps another definition")
        #expect(try await index.accept(Self.change(onto: 11)).isNew == false)
        #expect(try await index.accept(Self.change(onto: 10)).isNew == false, "that merge has its verdict")
    }

    @Test func `a retest and a push of the same merge are one run`() async throws {
        let index = try await Index.watching()
        let retest = try await index.accept(Self.change(onto: 10, nonce: "onto \(Sample.commit(10))"))
        let push = try await index.accept(Self.change(onto: 10))
        #expect(retest.isNew)
        #expect(!push.isNew)
        #expect(push.run.id == retest.run.id)
    }

    @Test func `a rebuilt index knows which commits were tested`() async throws {
        let folder = try TemporaryFolder()
        let store = try ArchiveStore(home: folder.path)
        let request = Self.change(onto: 10)
        try await store.write(Sample.report(7, request), request: request, tests: [])
        let index = try Index(path: folder.path + "/index.sqlite")
        _ = try await store.reindex(into: index)
        #expect(try await index.accept(request).isNew == false)
        #expect(try await index.accept(Self.change(onto: 11)).isNew)
    }

    @Test func `a commit on two branches is two runs`() async throws {
        let index = try await Index.watching()
        var other = Sample.request(change: nil)
        other.ref = "refs/heads/stable"
        #expect(try await index.accept(Sample.request(change: nil)).isNew)
        #expect(try await index.accept(other).isNew)
    }
}
