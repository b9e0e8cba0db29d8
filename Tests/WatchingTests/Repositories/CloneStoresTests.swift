import TestBasics
import Control
import TestSupport
import Store
import Results
import Foundation
import Git
import Testing
@testable import Watching

/// The box's stores for runs of clones, of which nobody says when the clone goes.
@Suite struct CloneStoresTests {
    private func withClones(
        _ names: [String], _ body: (CloneStores, [String: WatchedRepository], String) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            try await runCommand("git", "init", "-q", "\(folder)/repo")
            let mirrors = "\(folder)/mirrors"
            let watched = try await WatchedRepository.open("\(folder)/repo", named: "repo", mirrors: mirrors)
            var joined: [String: WatchedRepository] = [:]
            for name in names {
                try await runCommand("git", "init", "-q", "\(folder)/\(name)")
                joined[name] = try await watched.joined(by: "\(folder)/\(name)", mirrors: mirrors)
            }
            try await body(CloneStores(mirrors: mirrors), joined, folder)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `the store of a clone that is gone is removed`() async throws {
        try await withClones(["one", "two"]) { stores, joined, folder in
            let (one, two) = (try #require(joined["one"]), try #require(joined["two"]))
            #expect(stores.abandoned(needed: []) == [])
            try FileManager.default.removeItem(atPath: "\(folder)/one")
            let gone = stores.abandoned(needed: [])
            #expect(gone.map { "\(stores.mirrors)/\($0.name)" } == [one.store])
            #expect(gone.first?.clone == "\(folder)/one/.git/objects")
            #expect(stores.abandoned(needed: [one.store]) == [], "a run needs it")
            #expect(stores.abandoned(needed: [two.store]) == gone)
            #expect(stores.remove(gone) == gone)
            #expect(!FileManager.default.fileExists(atPath: one.store))
            for store in [two.store, "\(stores.mirrors)/repo.merges.git"] {
                #expect(FileManager.default.fileExists(atPath: store))
            }
            #expect(stores.abandoned(needed: []) == [])
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `what is no store of a clone stays`() async throws {
        try await withTemporaryFolder { folder in
            // A mirror may have a name that looks like one; it borrows from nobody.
            for name in ["a.clone-0123456789ab.git", "b.clone-0123456789ab.merges.git", "c.clone-short.git"] {
                try FileManager.default.createDirectory(
                    atPath: "\(folder)/\(name)/objects/info", withIntermediateDirectories: true)
            }
            for name in ["b.clone-0123456789ab.merges.git", "c.clone-short.git"] {
                try Data("/nonexistent/objects\n".utf8)
                    .write(to: URL(fileURLWithPath: "\(folder)/\(name)/objects/info/alternates"))
            }
            #expect(CloneStores(mirrors: folder).abandoned(needed: []) == [])
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `what a killed merge left is removed after an hour`() async throws {
        try await withClones(["one"]) { stores, joined, _ in
            let scratch = ChangeMerger.scratchFolder(try #require(joined["one"]).store)
            for name in ["old", "new"] {
                try FileManager.default.createDirectory(
                    atPath: "\(scratch)/\(name)/objects", withIntermediateDirectories: true)
            }
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -7_200)], ofItemAtPath: "\(scratch)/old")
            stores.clearScratch()
            #expect(try FileManager.default.contentsOfDirectory(atPath: scratch) == ["new"])
        }
    }
}
