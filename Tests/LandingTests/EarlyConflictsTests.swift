import TestBasics
import Foundation
import Git
import Logging
import Results
import Store
import Synchronization
import TestSupport
import Testing

@testable import Landing
@testable import Watching

/// Open changes that conflict with each other are found before one of them lands.
@Suite(.timeLimit(.minutes(2))) struct EarlyConflictsTests {
    @Test func `pairs that conflict are told to both, and forgotten once they don't`() async throws {
        try await withTemporaryFolder { folder in
            let path = "\(folder)/a.git"
            let repository = try Repository.create(bareAt: path)
            func commit(_ files: [String: String], on parents: [OID]) throws -> OID {
                let tree = try repository.createTree(
                    files.mapValues { TreeFile(blob: try repository.createBlob(Array($0.utf8)), isExecutable: false) })
                let author = Signature(name: "Ada", email: "a@e", time: Date(timeIntervalSince1970: 1_000))
                return try repository.createCommit(
                    tree: tree, parents: parents, author: author, committer: author, message: "Work\n")
            }
            let base = try commit(["a": "1\n"], on: [])
            let heads = [
                "1": try commit(["a": "2\n"], on: [base]), "2": try commit(["a": "3\n"], on: [base]),
                "3": try commit(["a": "1\n", "b": "1\n"], on: [base]),
            ]
            let index = try Store.Index.inMemory()
            func open(_ name: String, _ head: String, target: String = "main") async throws {
                try await index.setChange(
                    ChangeRecord(name: name, target: target, head: head, state: .open, title: "", author: ""), of: "app"
                )
            }
            for (name, head) in heads { try await open(name, head.hex) }
            // Another target's, and one whose commit is not there: neither stops the others.
            try await open("8", try commit(["a": "8\n"], on: [base]).hex, target: "release")
            try await open("9", String(repeating: "9", count: 40))
            let idle = Mutex(false)
            let isIdle: @Sendable () -> Bool = { idle.withLock { $0 } }
            let conflicts = EarlyConflicts(
                repository: WatchedRepository(
                    name: "app", location: path, gitDirectory: path, store: path, isRemote: false),
                index: index, log: Logger(label: "test"), isIdle: isIdle)
            try await conflicts.pass()
            #expect(try await index.earlyConflicts(of: "1", in: "app").isEmpty, "a busy machine merges nothing")
            idle.withLock { $0 = true }
            try await conflicts.pass()
            let found = try await index.earlyConflicts(of: "1", in: "app")
            #expect(found.map(\.other) == ["2"] && found.first?.paths == ["a"])
            #expect(try await index.earlyConflicts(of: "2", in: "app") == found.map(\.reversed))
            #expect(try await index.earlyConflicts(of: "3", in: "app").isEmpty)
            #expect(try await index.earlyConflicts(of: "8", in: "app").isEmpty)
            // The author mends it.
            try await open("2", try commit(["a": "1\n", "c": "1\n"], on: [base]).hex)
            try await conflicts.pass()
            #expect(try await index.earlyConflicts(of: "1", in: "app").isEmpty)
        }
    }
}
