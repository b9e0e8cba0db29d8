import Git
import TestBasics
import Testing
@testable import Watching

/// When a repository is looked at, and who waits for that.
@Suite(.timeLimit(.minutes(1))) struct LookTests {
    @Test func `a wait ends with a look that began after it, not with one that was on its way`() async {
        let requests = LookRequests()
        let first = requests.begin()
        async let answer = requests.next()
        // The wait has begun when it wakes the loop.
        for await _ in requests.wakes { break }
        requests.end(first, succeeded: false)
        requests.end(requests.begin(), succeeded: true)
        #expect(await answer)
    }

    @Test func `a wait that is cancelled ends, before and after it began`() async {
        let requests = LookRequests()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask { await requests.next() }
            for await _ in requests.wakes { break }
            group.cancelAll()
            #expect(await group.next() == false)
            // The group is cancelled by now, so this one begins cancelled.
            group.addTask { await requests.next() }
            #expect(await group.next() == false)
        }
    }

    @Test func `refs that were forgotten during a look are not settled by it`() async throws {
        try await withTemporaryFolder { folder in
            try await runCommand("git", "init", "-q", "--bare", "\(folder)/r")
            let stamp = try #require(try await RefScan(at: "\(folder)/r", since: nil).stamp)
            var settled = SettledRefs()
            settled.settle(stamp, settled.begin())
            #expect(settled.stamp == stamp)
            let round = settled.begin()
            #expect(settled.stamp == nil)
            settled.forget()
            settled.settle(stamp, round)
            #expect(settled.stamp == nil)
            settled.settle(stamp, settled.begin())
            #expect(settled.stamp == stamp)
        }
    }
}
