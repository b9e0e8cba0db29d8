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
}
