import DaemonLog
import Foundation
import Git
import Logging
import Sandbox
import StateFiles
import TestBasics
import TestSupport
import Testing

@testable import Workspaces

/// Sandboxes that are started in advance for the next runs of a repository.
@Suite(.enabled(if: Overlays.isPossible, "nothing can be mounted here"), .timeLimit(.minutes(2)))
struct SandboxPoolTests {
    private struct Ground: Sendable {
        let state: StateFolder
        let sandboxing: Sandboxing
        let pool: SandboxPool
        let failures: Count

        func pattern(_ name: String = "web", mayWrite: Bool = false) -> SandboxPool.Pattern {
            SandboxPool.Pattern(
                repository: SourceRepository(
                    name: name, gitDirectory: "\(state.path)/\(name).git", store: "\(state.path)/\(name).git",
                    clone: nil),
                program: [], mayWrite: mayWrite)
        }

        /// The next sandbox that waits; the test fails if none comes.
        func next(_ name: String = "web") async throws -> RunDirectories {
            var place: RunDirectories?
            try await eventually("a sandbox for \(name)") {
                place = await pool.place(for: name)
                return place != nil
            }
            return try #require(place)
        }

        /// The folders of sandboxes that wait or were taken.
        var folders: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: state.live)) ?? []).sorted()
        }

        func close(_ places: RunDirectories...) { for place in places { place.close(sandboxing.users) } }
    }

    /// Runs `body` beside a pool that starts what it is asked for, then ends the pool.
    private func withPool(_ body: @Sendable (Ground) async throws -> Void) async throws -> Ground {
        let room = try TemporaryFolder(.disk)
        defer { withExtendedLifetime(room) {} }
        let state = try StateFolder(environment: ["PIPECTL_HOME": room["home"]])
        try state.create()
        for name in ["web", "tool"] {
            _ = try await TestRepository.make(at: "\(state.path)/\(name).git", isBare: true)
        }
        let found = await Sandboxing.find(
            stepInit: try Installation.stepInit(), toolchain: nil, folders: SandboxFolders(), state: state)
        try #require(found.sandbox != nil, "\(found.obstacle ?? "")")
        let failures = Count()
        var log = Logger(label: "test") { _ in
            DaemonLogHandler(.json) { if $0.contains(LogCode.standbyFailed.rawValue) { failures.add() } }
        }
        log.logLevel = .debug
        let pool = SandboxPool(state: state, folders: SandboxFolders(), log: log) { found }
        let ground = Ground(state: state, sandboxing: found, pool: pool, failures: failures)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await pool.run() }
            try await body(ground)
            group.cancelAll()
            try await group.waitForAll()
        }
        #expect(await pool.place(for: "web") == nil, "nothing waits after the end of the pool")
        return ground
    }

    @Test func `a sandbox waits once it was asked for, and is used once`() async throws {
        _ = try await withPool { ground in
            #expect(await ground.pool.place(for: "web") == nil)
            ground.pool.prepare(ground.pattern(), count: 1)
            let place = try await ground.next()
            #expect(place.isOpen)
            #expect(FileManager.default.fileExists(atPath: place.workspace))
            #expect(await ground.pool.place(for: "web") == nil)
            #expect(await ground.pool.place(for: "tool") == nil, "another repository has none")
            let reserve = place.take()
            #expect(reserve != nil && place.take() == nil && !place.isOpen)
            #expect(reserve?.standby.discard() == true)
            ground.sandboxing.users.giveBack(reserve?.user)
        }
    }

    @Test func `as many wait as were asked for, and not more when asked again`() async throws {
        let ground = try await withPool { ground in
            ground.pool.prepare(ground.pattern(), count: 2)
            ground.pool.prepare(ground.pattern(), count: 2)
            // What is asked for later is made later: once the other repository has one, the first has all of its own.
            ground.pool.prepare(ground.pattern("tool"), count: 1)
            let other = try await ground.next("tool")
            #expect(ground.folders.count == 3)
            let (newest, oldest) = (try await ground.next(), try await ground.next())
            #expect(newest.folder > oldest.folder, "last in, first out")
            #expect(await ground.pool.place(for: "web") == nil)
            ground.close(other, newest, oldest)
        }
        #expect(ground.folders.count <= 3)
    }

    @Test func `sandboxes that a run could not use are ended when another kind is asked for`() async throws {
        _ = try await withPool { ground in
            ground.pool.prepare(ground.pattern(), count: 2)
            ground.pool.prepare(ground.pattern("tool"), count: 1)
            ground.close(try await ground.next("tool"))
            let before = ground.folders
            ground.pool.prepare(ground.pattern(mayWrite: true), count: 1)
            try await eventually("the end of both") { Set(before).subtracting(ground.folders).count == 2 }
            let place = try await ground.next()
            #expect(!before.contains { place.folder.hasSuffix("/\($0)") })
            ground.close(place)
        }
    }

    @Test func `the end of the pool ends what waits, with its folders and users`() async throws {
        let ground = try await withPool { ground in
            ground.pool.prepare(ground.pattern(), count: 2)
            ground.pool.prepare(ground.pattern("tool"), count: 1)
            ground.close(try await ground.next("tool"))
        }
        #expect(ground.folders.count <= 1, "only that of the one that was taken: \(ground.folders)")
    }

    @Test func `a sandbox that can't be started leaves nothing, and is not tried again at once`() async throws {
        _ = try await withPool { ground in
            // A file where the folders of workspaces are made.
            try? FileManager.default.removeItem(atPath: ground.state.workspaces)
            try Data().write(to: URL(fileURLWithPath: ground.state.workspaces))
            ground.pool.prepare(ground.pattern(), count: 1)
            try await eventually("the failure") { ground.failures.value > 0 }
            ground.pool.prepare(ground.pattern("tool"), count: 1)
            ground.pool.prepare(ground.pattern(), count: 1)
            try await eventually("the end of what it began") { ground.folders.isEmpty }
            #expect(await ground.pool.place(for: "web") == nil)
            #expect(await ground.pool.place(for: "tool") == nil)
            #expect(ground.failures.value == 1)
        }
    }
}
