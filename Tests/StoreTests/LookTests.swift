import Results
import Store
import Git
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite struct LookTests {
    @Test func `there is no cursor before the baseline`() async throws {
        let index = try Index.inMemory()
        #expect(try await index.cursor(of: "alpha") == nil)
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: [:])
        #expect(try await index.cursor(of: "alpha") == [:])
        let refs = ["refs/heads/main": Sample.commit(1), "refs/pull/7/head": Sample.commit(2)]
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: refs)
        #expect(try await index.cursor(of: "alpha") == refs)
        #expect(try await index.repositories() == ["alpha": "/srv/alpha.git"])
        #expect(try await index.queued().isEmpty)
    }

    @Test func `moves are the differences from the snapshot`() async throws {
        let index = try Index.inMemory()
        func id(_ number: Int) throws -> OID { try #require(OID(hex: Sample.commit(number))) }
        func moves(to refs: RefTable) async throws -> [RefChange]? {
            try await index.news(of: "alpha", refs: refs) { _ in .all }?.moves
        }
        #expect(try await moves(to: [:]) == nil)
        // In the order of bytes: upper case first, and a slash before digits.
        let known: RefTable = try [
            "refs/heads/B": id(1), "refs/heads/a": id(2), "refs/heads/a/b": id(3), "refs/heads/é": id(4),
        ]
        try await index.recordBaseline(of: "alpha", location: "/srv/alpha.git", refs: known)
        try await index.recordBaseline(of: "beta", location: "/srv/beta.git", refs: ["refs/heads/b": id(1)])
        #expect(try await moves(to: known) == [])
        let now: RefTable = try [
            "refs/heads/A": id(9), "refs/heads/B": id(1), "refs/heads/a": id(5), "refs/heads/é": id(4),
            "refs/pull/1/head": id(6),
        ]
        #expect(
            try await moves(to: now) == [
                RefChange(name: "refs/heads/A", old: nil, new: id(9)),
                RefChange(name: "refs/heads/a", old: id(2), new: id(5)),
                RefChange(name: "refs/heads/a/b", old: id(3), new: nil),
                RefChange(name: "refs/pull/1/head", old: nil, new: id(6)),
            ])
        #expect(try await moves(to: [:])?.count == 4)
    }

    @Test func `moved refs come with the changes that were asked for`() async throws {
        let index = try Index.inMemory()
        let head = try #require(OID(hex: Sample.commit(1)))
        for name in ["alpha", "beta"] {
            try await index.recordBaseline(of: name, location: "/srv/\(name).git", refs: ["refs/heads/main": head])
        }
        for (number, state) in [(1, ChangeRecord.State.open), (2, .landed), (3, .closed)] {
            var change = Sample.change("\(number)", state)
            if state == .landed { change.landedCommit = Sample.commit(number) }
            try await index.setChange(change, of: "alpha")
        }
        try await index.setChange(Sample.change("2", .open), of: "beta")
        func names(_ refs: RefTable, _ selection: ChangeSelection) async throws -> [String]? {
            let asked = Mutex<[[RefChange]]>([])
            let news = try await index.news(of: "alpha", refs: refs) { moves in
                asked.withLock { $0.append(moves) }
                return selection
            }
            #expect(asked.withLock { $0 } == (news?.moves.isEmpty == false ? [news?.moves ?? []] : []))
            return news?.known.map { "\($0.name) \($0.state.rawValue)" }.sorted()
        }
        let moved: RefTable = ["refs/heads/main": head, "refs/pull/2/head": head]
        #expect(try await names(moved, .all) == ["1 open", "2 landed", "3 closed"])
        #expect(try await names(moved, .named(["2", "9"])) == ["2 landed"])
        #expect(try await names(moved, .named([])) == [])
        #expect(try await names(["refs/heads/main": head], .all) == [])
    }

    @Test func `an observation before the baseline is refused`() async throws {
        let index = try Index.inMemory()
        let error = await #expect(throws: ArchiveError.self) {
            try await index.recordLook(repository: "alpha", moved: [], requests: [], changes: [])
        }
        #expect(error?.code == .noBaseline)
        _ = try await index.enqueue(Sample.request())
        #expect(try await index.cursor(of: "alpha") == nil, "a run by hand is no look")
    }

    @Test func `an observation records cursor, changes and runs together`() async throws {
        let index = try await Index.watching([
            "refs/heads/main": Sample.commit(0), "refs/heads/old": Sample.commit(9),
        ])
        let outcome = try await index.recordLook(
            repository: "alpha",
            moved: [
                RefMove(ref: "refs/pull/7/head", old: nil, new: Sample.commit(1)),
                RefMove(ref: "refs/heads/main", old: Sample.commit(0), new: Sample.commit(2)),
                RefMove(ref: "refs/heads/old", old: Sample.commit(9), new: nil),
            ],
            requests: [Sample.request(), Sample.request("alpha", "release", change: nil, head: 2)],
            changes: [Sample.change("7", .open)])
        #expect(outcome.queued.map(\.id) == [1, 2])
        #expect(outcome.queued.map(\.request.workflow) == ["test", "release"])
        #expect(
            try await index.cursor(of: "alpha") == [
                "refs/heads/main": Sample.commit(2), "refs/pull/7/head": Sample.commit(1),
            ])
        let change = try #require(try await index.change("7", of: "alpha"))
        #expect(change.state == .open)
        #expect(change.updatedAt == Sample.start)
    }

    @Test func `what a filter held back is known until its ref moves`() async throws {
        let index = try await Index.watching(["refs/heads/main": Sample.commit(0)])
        let (main, pull) = ("refs/heads/main", "refs/pull/7/head")
        func held(
            _ name: String, _ head: Int, why: String = "ignores it", by filter: TriggerFilter = .messages
        ) -> HeldBackWorkflow {
            HeldBackWorkflow(name: name, commit: Sample.commit(head), TriggerObjection(filter: filter.name, why: why))
        }
        func look(_ moved: [RefMove], _ heldBack: [String: [HeldBackWorkflow]]) async throws {
            _ = try await index.recordLook(
                repository: "alpha", moved: moved, requests: [], changes: [], heldBack: heldBack)
        }
        func known(_ head: Int, of repository: String = "alpha") async throws -> [HeldBackWorkflow] {
            try await index.heldBack(at: Sample.commit(head), of: repository)
        }
        // The same commit on two refs is one fact for who asks about the commit.
        try await look(
            [
                RefMove(ref: main, old: Sample.commit(0), new: Sample.commit(1)),
                RefMove(ref: pull, old: nil, new: Sample.commit(1)),
            ], [main: [held("test", 1), held("deploy", 1)], pull: [held("test", 1)]])
        #expect(try await known(1) == [held("deploy", 1), held("test", 1)])
        #expect(try await known(0).isEmpty)
        #expect(try await known(1, of: "beta").isEmpty)
        try await look([RefMove(ref: main, old: Sample.commit(1), new: Sample.commit(2))], [:])
        #expect(try await known(1) == [held("test", 1)])
        // Another decision about the same head, as after a label.
        try await look([], [pull: [held("test", 1, why: "starts for another")]])
        #expect(try await known(1).map(\.objection.why) == ["starts for another"])
        try await look([], [:])
        #expect(try await known(1).count == 1, "a look that decides nothing about it leaves it")
        try await look([RefMove(ref: pull, old: Sample.commit(1), new: nil)], [:])
        #expect(try await known(1).isEmpty)
        // Of two reasons, the one of the ref that came nearest to a run.
        let near = held("test", 3, by: .paths)
        for (one, other) in [(main, pull), (pull, main)] {
            try await look([], [one: [near], other: [held("test", 3, why: "a", by: .branches)]])
            #expect(try await known(3) == [near])
        }
    }

    @Test func `an outdated observation changes nothing`() async throws {
        let index = try await Index.watching(["refs/heads/main": Sample.commit(3)])
        let error = await #expect(throws: ArchiveError.self) {
            try await index.recordLook(
                repository: "alpha",
                moved: [
                    RefMove(ref: "refs/pull/7/head", old: nil, new: Sample.commit(1)),
                    RefMove(ref: "refs/heads/main", old: Sample.commit(0), new: Sample.commit(2)),
                ], requests: [Sample.request()], changes: [Sample.change("7", .open)])
        }
        #expect(error?.code == .cursorMoved)
        #expect(try await index.cursor(of: "alpha") == ["refs/heads/main": Sample.commit(3)])
        #expect(try await index.queued().isEmpty)
        #expect(try await index.changes(of: "alpha").isEmpty)
    }

    @Test func `the same request twice makes one run`() async throws {
        let index = try await Index.watching()
        let first = try await index.recordLook(
            repository: "alpha", moved: [], requests: [Sample.request()], changes: [])
        let second = try await index.recordLook(
            repository: "alpha", moved: [], requests: [Sample.request(), Sample.request(nonce: "retest")], changes: [])
        #expect(first.queued.map(\.id) == [1])
        #expect(second.alreadyKnown == [1])
        #expect(second.queued.map(\.id) == [2], "a nonce makes a wanted repetition distinct")
        let byHand = try await index.enqueue(Sample.request(nonce: "retest"))
        #expect(byHand.run.id == 2)
        #expect(!byHand.isNew)
    }

    @Test func `a head that comes back is tested again`() async throws {
        let index = try await Index.watching()
        try await index.accept(Sample.request(head: 1))
        try await index.accept(Sample.request(head: 2))
        let back = try await index.enqueue(Sample.request(head: 1))
        #expect(back.isNew, "the first run of this head was superseded and says nothing about it")
        #expect(back.superseded.map(\.run) == [2])
        #expect(try await index.queued().map(\.id) == [3])
    }

    @Test func `a head that comes back while its run is being stopped is tested again`() async throws {
        let index = try await Index.watching()
        let first = try await index.enqueue(Sample.request(head: 1)).run.id
        try await index.markRunning(first)
        try await index.accept(Sample.request(head: 2))
        let back = try await index.enqueue(Sample.request(head: 1))
        #expect(back.isNew)
        #expect(back.toCancel.map(\.run) == [first])
    }

    @Test func `superseding ends queued runs and returns running ones`() async throws {
        let index = try await Index.watching()
        let running = try await index.enqueue(Sample.request(head: 1)).run.id
        try await index.markRunning(running)
        let outcome = try await index.recordLook(
            repository: "alpha", moved: [], requests: [Sample.request(head: 2)], changes: [])
        #expect(outcome.toCancel.map(\.run) == [running])
        #expect(outcome.superseded.isEmpty)
        let next = try await index.recordLook(
            repository: "alpha", moved: [], requests: [Sample.request(head: 3)], changes: [])
        #expect(next.superseded.map(\.run) == [2])
        #expect(next.superseded.first?.by == 3)
        let ended = try #require(try await index.run(2)?.summary)
        #expect(ended.verdict == .superseded)
        #expect(ended.supersededBy == 3)
        #expect(ended.reason == "Run 3 took its place: change 7 is at aaaaaaaaaa now.")
        #expect(ended.endedAt == Sample.start)
    }

    @Test(arguments: [
        Sample.request(change: "8", head: 2), Sample.request("alpha", "lint", head: 2), Sample.request("beta", head: 2),
    ])
    func `another subject, workflow or repository is not superseded`(_ other: RunRequest) async throws {
        let index = try await Index.watching()
        try await index.accept(Sample.request(head: 1))
        let outcome = try await index.enqueue(other)
        #expect(outcome.superseded.isEmpty && outcome.toCancel.isEmpty)
        #expect(try await index.queued().count == 2)
    }

    @Test func `a queue keeps at most its maximum`() async throws {
        let index = try await Index.watching()
        func request(_ head: Int) -> RunRequest {
            Sample.request(change: nil, head: head, concurrency: .queue(max: 2))
        }
        let running = try await index.enqueue(request(1)).run.id
        try await index.markRunning(running)
        for head in 2...3 { try await index.accept(request(head)) }
        let outcome = try await index.enqueue(request(4))
        #expect(outcome.superseded.map(\.run) == [2])
        #expect(outcome.toCancel.isEmpty)
        #expect(try await index.queued().map(\.id) == [3, 4])
    }

    @Test func `latestOnly keeps the running and the newest run`() async throws {
        let index = try await Index.watching()
        func request(_ head: Int) -> RunRequest {
            Sample.request(change: nil, head: head, concurrency: .latestOnly)
        }
        let running = try await index.enqueue(request(1)).run.id
        try await index.markRunning(running)
        try await index.accept(request(2))
        let outcome = try await index.enqueue(request(3))
        #expect(outcome.superseded.map(\.run) == [2])
        #expect(outcome.toCancel.isEmpty)
        #expect(try await index.queued().map(\.id) == [3])
    }

    @Test func `runs of one observation may supersede each other`() async throws {
        let index = try await Index.watching()
        let outcome = try await index.recordLook(
            repository: "alpha", moved: [], requests: [Sample.request(head: 1), Sample.request(head: 2)], changes: [])
        #expect(outcome.queued.map(\.id) == [2])
        #expect(outcome.superseded.map(\.run) == [1])
    }

    @Test(.timeLimit(.minutes(1))) func `one observation may have a thousand refs`() async throws {
        let index = try await Index.watching()
        let numbers = 1...1000
        let outcome = try await index.recordLook(
            repository: "alpha",
            moved: numbers.map { RefMove(ref: "refs/pull/\($0)/head", old: nil, new: Sample.commit($0)) },
            requests: numbers.map { Sample.request(change: String($0), head: $0) },
            changes: numbers.map { Sample.change(String($0), .open) })
        #expect(outcome.queued.count == 1000)
        #expect(try await index.changes(of: "alpha").map(\.name) == numbers.map(String.init))
    }

    @Test func `changes keep their history`() async throws {
        let index = try await Index.watching()
        try await index.setChange(Sample.change("7", .open), of: "alpha")
        try await index.setChange(Sample.change("agent/x", .conflict), of: "alpha")
        try await index.setChange(Sample.change("12", .stale), of: "alpha")
        try await index.setChange(Sample.change("7", .landed, landed: Sample.commit(5)), of: "alpha")
        let changes = try await index.changes(of: "alpha")
        #expect(changes.map(\.name) == ["7", "12", "agent/x"])
        #expect(changes[0].landedCommit == Sample.commit(5))
        #expect(changes[0].recognition == .squash)
        #expect(try await index.changes(of: "alpha", states: [.stale, .conflict]).map(\.name) == ["12", "agent/x"])
        #expect(try await index.changes(of: "beta").isEmpty)
        await #expect(throws: ArchiveError.self, "a landed change has its commit") {
            try await index.setChange(Sample.change("9", .landed), of: "alpha")
        }
    }
}
