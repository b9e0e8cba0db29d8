import TestBasics
import TestSupport
import Engine
import Results
import Store
import Archive
import Foundation
import Testing
@testable import Watching

@Suite(.timeLimit(.minutes(1))) struct RepositoryRegistryTests {
    @Test func `locations that are opened at the same time never share a name`() async throws {
        try await withTemporaryFolder { folder in
            let places = (1...6).map { "\(folder)/\($0)/app" }
            for place in places { try await runCommand("git", "init", "-q", "--bare", place) }
            let index = try Store.Index.inMemory()
            let registry = RepositoryRegistry(index: index, mirrors: "\(folder)/mirrors")
            let opened = try await withThrowingTaskGroup(of: WatchedRepository.self) { group in
                // Each twice: the same location is the same repository.
                for place in places + places { group.addTask { try await registry.open(place, named: nil) } }
                var opened: [WatchedRepository] = []
                for try await one in group { opened.append(one) }
                return opened
            }
            #expect(Set(opened.map(\.name)).count == places.count)
            #expect(Set(opened.map(\.store)).count == places.count)
            let registered = try await index.repositories()
            #expect(Set(registered.values) == Set(places))
            for one in opened { #expect(registered[one.name] == one.location) }
        }
    }

    @Test func `an index that was rebuilt finds each repository under its name again`() async throws {
        try await withTemporaryFolder { folder in
            let places = (1...3).map { "\(folder)/\($0)/app" }
            for place in places { try await runCommand("git", "init", "-q", "--bare", place) }
            let mirrors = "\(folder)/mirrors"
            let before = RepositoryRegistry(index: try Store.Index.inMemory(), mirrors: mirrors)
            #expect(try await before.open(places[0], named: nil).name == "app")
            #expect(try await before.open(places[1], named: nil).name == "app-2")
            // One was made by a pipectl that noted no locations, and one is used without a folder of its own.
            try FileManager.default.removeItem(atPath: "\(mirrors)/app-2.merges.git/location")
            // It read the names in the archive, which has no locations.
            let index = try Store.Index.inMemory()
            for name in ["app", "app-2"] { try await index.register(name, location: "") }
            let after = RepositoryRegistry(index: index, mirrors: mirrors)
            #expect(try await after.open(places[2], named: nil).name == "app-3")
            #expect(try await after.open(places[1], named: nil).name == "app-2")
            #expect(try await after.open(places[0], named: nil, preferring: "app").name == "app")
            #expect(try await index.repositories()["app"] == places[0])
        }
    }

    @Test func `a name whose store is gone, too, is the first repository's that would have it`() async throws {
        try await withTemporaryFolder { folder in
            let place = "\(folder)/app"
            try await runCommand("git", "init", "-q", "--bare", place)
            let index = try Store.Index.inMemory()
            try await index.register("app", location: "")
            let registry = RepositoryRegistry(index: index, mirrors: "\(folder)/mirrors")
            #expect(try await registry.open(place, named: nil).name == "app")
        }
    }
}
