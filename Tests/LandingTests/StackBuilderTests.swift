import TestBasics
import Foundation
import Git
import MergeQueue
import Pipeline
import TestSupport
import Testing

@testable import Landing
@testable import Watching

/// Commits of the merge queue, made in memory.
@Suite(.timeLimit(.minutes(2))) struct StackBuilderTests {
    private struct Place {
        let repository: Repository
        let path: String

        init(_ path: String) throws {
            self.path = path
            repository = try Repository.create(bareAt: path)
        }

        /// A commit with these files, all at the top.
        func commit(
            _ files: [String: String], on parents: [OID] = [], by name: String = "Ada", _ message: String = "Work\n",
            at time: Double = 1_000
        ) throws -> OID {
            let tree = try repository.createTree(
                files.mapValues { TreeFile(blob: try repository.createBlob(Array($0.utf8)), isExecutable: false) })
            let author = Signature(
                name: name, email: "\(name)@example.com", time: Date(timeIntervalSince1970: time))
            return try repository.createCommit(
                tree: tree, parents: parents, author: author, committer: author, message: message)
        }

        func builder(_ method: LandingMethod, _ merger: ChangeMerger) -> StackBuilder {
            StackBuilder(store: path, branch: "main", method: method, merger: merger)
        }
    }

    /// Entries as a queue makes them.
    private static func entries(_ changes: [(String, OID)], title: String = "Title") -> [QueueEntry] {
        var state = QueueState(target: "t", rules: nil)
        for (change, head) in changes {
            _ = state.apply(.enqueue(QueueWish(change: change, head: head.hex, title: title)))
        }
        return state.entries
    }

    private static func commits(_ built: [BuiltEntry]) throws -> [OID] {
        try built.map { entry in
            guard case .commit(let commit, _) = entry, let id = OID(hex: commit) else {
                throw RequestErrorStub(text: "\(entry)")
            }
            return id
        }
    }

    private struct RequestErrorStub: Error { var text: String }

    @Test(arguments: LandingMethod.allCases)
    func `changes are stacked, as the same commits each time`(method: LandingMethod) async throws {
        try await withTemporaryFolder { folder in
            let place = try Place("\(folder)/a.git")
            let base = try place.commit(["a": "1\n"])
            let one = try place.commit(["a": "1\n", "b": "1\n"], on: [base], by: "Bea", at: 2_000)
            let two = try place.commit(["a": "1\n", "c": "1\n"], on: [base], by: "Cid", at: 1_500)
            let builder = place.builder(method, try await ChangeMerger.find())
            let entries = Self.entries([("7", one), ("agent/x", two)])
            let built = try await builder.build(entries, on: base)
            #expect(try await builder.build(entries, on: base) == built)
            let made = try Self.commits(built)
            let (first, second) = (try place.repository.commit(made[0]), try place.repository.commit(made[1]))
            let names = try place.repository.entries(ofTree: second.tree, recursive: true).map(\.path)
            #expect(names.sorted() == ["a", "b", "c"])
            switch method {
            case .squash:
                #expect(first.parents == [base] && second.parents == [first.id])
                #expect([first, second].map(\.author.name) == ["Bea", "Cid"])
                #expect(first.summary == "Title (#7)" && second.summary == "Title (agent/x)")
                #expect(second.committer.time == Date(timeIntervalSince1970: 2_000))
            case .merge:
                #expect(first.parents == [base, one] && second.parents == [first.id, two])
            case .rebase:
                // It is on top of the target already.
                #expect(first.id == one)
                #expect(second.parents == [one] && second.author.name == "Cid")
            }
        }
    }

    @Test(arguments: LandingMethod.allCases)
    func `what can't be merged ends the stack and says why`(method: LandingMethod) async throws {
        try await withTemporaryFolder { folder in
            let place = try Place("\(folder)/a.git")
            let base = try place.commit(["a": "1\n"])
            let one = try place.commit(["a": "2\n"], on: [base])
            let clash = try place.commit(["a": "3\n"], on: [base])
            let stranger = try place.commit(["z": "1\n"])
            let builder = place.builder(method, try await ChangeMerger.find())
            func last(_ heads: [OID]) async throws -> BuiltEntry? {
                let entries = Self.entries(heads.enumerated().map { ("\($0.offset)", $0.element) })
                return try await builder.build(entries, on: base).last
            }
            #expect(try await last([one, clash, one]) == .failed(.conflict(["a"])))
            #expect(try await last([base]) == .failed(.nothing))
            guard case .failed(.unmergeable)? = try await last([stranger]) else {
                Issue.record("a change without common history was merged")
                return
            }
            guard case .failed(.unmergeable)? = try await last([#require(OID(hex: String(repeating: "7", count: 40)))])
            else {
                Issue.record("a commit that is not there was merged")
                return
            }
        }
    }

    @Test func `a squash that brings nothing new is nothing`() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place("\(folder)/a.git")
            let base = try place.commit(["a": "1\n"])
            let one = try place.commit(["a": "1\n", "b": "1\n"], on: [base])
            let same = try place.commit(["a": "1\n", "b": "1\n"], on: [base], "Another\n")
            for method in LandingMethod.allCases {
                let built = try await place.builder(method, ChangeMerger.find())
                    .build(Self.entries([("1", one), ("2", same)]), on: base)
                #expect(built.last == .failed(.nothing), "\(method)")
            }
        }
    }

    @Test func `a title with line feeds and control characters stays one line`() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place("\(folder)/a.git")
            let base = try place.commit(["a": "1\n"])
            let one = try place.commit(["a": "1\n", "b": "1\n"], on: [base], "x\n\nThe body.\n")
            let title = "Title\n\nSigned-off-by: Eve\u{1B}[31m\u{0}"
            let built = try await place.builder(.squash, ChangeMerger.find())
                .build(Self.entries([("1", one)], title: title), on: base)
            let commit = try place.repository.commit(Self.commits(built)[0])
            let lines = commit.message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
            #expect(lines.count == 4 && lines[0].hasSuffix("(#1)") && lines[2] == "The body.")
            #expect(!commit.message.unicodeScalars.contains { $0.value == 0x1B || $0.value == 0 })
        }
    }

    @Test func `a change of several commits keeps them when it is rebased`() async throws {
        try await withTemporaryFolder { folder in
            let place = try Place("\(folder)/a.git")
            let old = try place.commit(["a": "1\n"])
            let base = try place.commit(["a": "1\n", "m": "1\n"], on: [old])
            let first = try place.commit(["a": "1\n", "b": "1\n"], on: [old], "First\n")
            let second = try place.commit(["a": "1\n", "b": "2\n"], on: [first], "Second\n")
            let built = try await place.builder(.rebase, ChangeMerger.find())
                .build(Self.entries([("1", second)]), on: base)
            let tip = try Self.commits(built)[0]
            let log = try place.repository.log(from: tip, excluding: [base])
            #expect(log.map(\.summary) == ["Second", "First"])
            #expect(log.last?.parents == [base])
        }
    }
}
